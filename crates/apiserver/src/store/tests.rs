use podsmith_object::json;

use super::*;

fn draft(name: &str, data: u64) -> Draft {
    Draft::new(&json!({"kind": "K", "apiVersion": "v1", "metadata": {"name": name}, "data": data}))
}

fn names(listing: &Listing) -> Vec<&str> {
    listing.items.iter().map(|(key, _)| &**key).collect()
}

#[test]
fn every_write_takes_the_next_revision_and_checks_what_it_expects() {
    let store = Store::in_memory(100);
    let first = store.put("t", "a/x", Expect::Absent, draft("x", 1)).unwrap();
    assert_eq!(first.revision(), 1);
    assert!(matches!(
        store.put("t", "a/x", Expect::Absent, draft("x", 2)),
        Err(CommitError::Changed(Some(_)))
    ));
    let second = store.put("t", "a/x", Expect::Revision(1), draft("x", 2)).unwrap();
    assert_eq!(second.revision(), 2);
    assert!(matches!(store.delete("t", "a/x", 1, draft("x", 2)), Err(CommitError::Changed(Some(_)))));
    assert_eq!(store.delete("t", "a/x", 2, draft("x", 2)).unwrap().revision(), 3);
    assert!(store.get("t", "a/x").is_none());
    let changes: Vec<_> = store.events("t", 0, 10).unwrap().iter().map(|e| (e.revision, e.change)).collect();
    assert_eq!(changes, [(1, Change::Added), (2, Change::Modified), (3, Change::Deleted)]);
}

#[test]
fn a_list_at_an_old_revision_shows_what_was_there() {
    let store = Store::in_memory(100);
    for name in ["a", "b", "c"] {
        store.put("t", name, Expect::Absent, draft(name, 1)).unwrap();
    }
    store.delete("t", "b", 2, draft("b", 1)).unwrap();
    store.put("t", "d", Expect::Absent, draft("d", 1)).unwrap();
    store.put("t", "a", Expect::Revision(1), draft("a", 2)).unwrap();
    let now = store.list("t", "", None, None, None).unwrap();
    assert_eq!((names(&now), now.revision), (vec!["a", "c", "d"], 6));
    let then = store.list("t", "", None, None, Some(3)).unwrap();
    assert_eq!(names(&then), ["a", "b", "c"]);
    assert_eq!(then.items[0].1.revision(), 1);
    let page = store.list("t", "", Some("a"), Some(1), Some(3)).unwrap();
    assert_eq!(names(&page), ["b"]);
}

#[test]
fn namespaces_do_not_leak_into_each_other() {
    let store = Store::in_memory(100);
    for key in ["a/x", "a-b/x", "ab/x"] {
        store.put("t", key, Expect::Absent, draft("x", 1)).unwrap();
    }
    assert_eq!(names(&store.list("t", "a/", None, None, None).unwrap()), ["a/x"]);
    assert_eq!(store.count("t", ""), 3);
}

#[test]
fn history_is_bounded_and_says_so() {
    let store = Store::in_memory(2);
    for name in ["a", "b", "c", "d"] {
        store.put("t", name, Expect::Absent, draft(name, 1)).unwrap();
    }
    assert_eq!(store.events("t", 1, 10).unwrap_err(), Compacted { oldest: 2 });
    assert_eq!(store.events("t", 2, 10).unwrap().len(), 2);
    assert!(store.list("t", "", None, None, Some(1)).is_err());
    store.compact();
    assert!(store.events("t", 3, 10).is_err());
    assert!(store.events("t", 4, 10).unwrap().is_empty());
}

#[tokio::test]
async fn a_store_in_a_file_comes_back_with_its_revision() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("cluster.db");
    {
        let store = Store::open(&path, 100).unwrap();
        store.put("t", "a", Expect::Absent, draft("a", 1)).unwrap();
        store.put("t", "b", Expect::Absent, draft("b", 1)).unwrap();
        let last = store.delete("t", "b", 2, draft("b", 1)).unwrap();
        store.settled(last.revision()).await.unwrap();
        assert_eq!(store.revision(), 3);
    }
    let store = Store::open(&path, 100).unwrap();
    assert_eq!(store.revision(), 3);
    assert_eq!(store.get("t", "a").unwrap().revision(), 1);
    assert!(store.get("t", "b").is_none());
    assert!(store.events("t", 2, 10).is_err(), "what happened before the start is forgotten");
    assert_eq!(store.put("t", "c", Expect::Absent, draft("c", 1)).unwrap().revision(), 4);
}
