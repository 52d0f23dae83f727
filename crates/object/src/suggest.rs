//! "Did you mean …?"

/// The candidate closest to `word`, if one is close enough to be a likely typing mistake.
///
/// ```
/// use podsmith_object::suggest::nearest;
/// assert_eq!(nearest("filtres", ["filters", "sources"]), Some("filters"));
/// assert_eq!(nearest("xyz", ["filters", "sources"]), None);
/// ```
pub fn nearest<'a>(word: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let folded = fold(word);
    let limit = (folded.len() / 3).clamp(1, 3);
    candidates
        .into_iter()
        .map(|candidate| (distance(&folded, &fold(candidate)), candidate))
        .filter(|(distance, _)| *distance <= limit)
        .min_by_key(|(distance, candidate)| (*distance, candidate.len()))
        .map(|(_, candidate)| candidate)
}

/// A ready hint: ``did you mean `x`?`` or, for a short list, the valid words.
pub fn hint<'a>(word: &str, candidates: impl IntoIterator<Item = &'a str> + Clone) -> Option<String> {
    if let Some(found) = nearest(word, candidates.clone()) {
        return Some(format!("did you mean `{found}`?"));
    }
    let all: Vec<_> = candidates.into_iter().collect();
    (!all.is_empty() && all.len() <= 40).then(|| format!("valid here: {}", all.join(", ")))
}

fn fold(word: &str) -> Vec<char> {
    word.chars().filter(|c| !matches!(c, '-' | '_')).flat_map(char::to_lowercase).collect()
}

/// Edit distance where swapping two neighbours counts once.
fn distance(a: &[char], b: &[char]) -> usize {
    let mut before: Vec<usize> = vec![0; b.len() + 1];
    let mut last: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.iter().enumerate() {
        let mut row = vec![i + 1; b.len() + 1];
        for (j, y) in b.iter().enumerate() {
            row[j + 1] = (last[j] + usize::from(x != y)).min(last[j + 1] + 1).min(row[j] + 1);
            if i > 0 && j > 0 && a[i - 1] == *y && *x == b[j - 1] {
                row[j + 1] = row[j + 1].min(before[j - 1] + 1);
            }
        }
        before = std::mem::replace(&mut last, row);
    }
    last[b.len()]
}
