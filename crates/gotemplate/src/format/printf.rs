//! `fmt.Sprintf`: formats, flags, widths and argument numbers.

use super::verbs::{Flags, print_argument};
use crate::value::Value;

/// No width or precision beyond this; Go's own bound.
const LARGEST: i64 = 1_000_000;

/// Formats `arguments` as Go does, mistakes included.
pub(crate) fn sprintf(format: &str, arguments: &[Value]) -> String {
    let mut printer =
        Printer { format, at: 0, arguments, next: 0, reordered: false, good_index: true, out: String::new() };
    printer.run();
    printer.out
}

struct Printer<'f> {
    format: &'f str,
    at: usize,
    arguments: &'f [Value],
    next: usize,
    reordered: bool,
    good_index: bool,
    out: String,
}

impl Printer<'_> {
    fn peek(&self) -> Option<char> {
        self.format[self.at..].chars().next()
    }

    fn run(&mut self) {
        while let Some(offset) = self.format[self.at..].find('%') {
            self.out.push_str(&self.format[self.at..self.at + offset]);
            self.at += offset + 1;
            self.directive();
        }
        self.out.push_str(&self.format[self.at..]);
        if !self.reordered && self.next < self.arguments.len() {
            self.out.push_str("%!(EXTRA ");
            for (index, argument) in self.arguments[self.next..].iter().enumerate() {
                if index > 0 {
                    self.out.push_str(", ");
                }
                if argument.is_nil() {
                    self.out.push_str("<nil>");
                } else {
                    self.out.push_str(argument.type_name());
                    self.out.push('=');
                    super::print(&mut self.out, argument);
                }
            }
            self.out.push(')');
        }
    }

    fn directive(&mut self) {
        let mut flags = Flags::default();
        self.good_index = true;
        while let Some(c) = self.peek() {
            match c {
                '#' => flags.sharp = true,
                '0' => flags.zero = true,
                '+' => flags.plus = true,
                '-' => flags.minus = true,
                ' ' => flags.space = true,
                _ => break,
            }
            self.at += 1;
        }
        let mut after_index = self.argument_number();
        if self.peek() == Some('*') {
            self.at += 1;
            match self.star() {
                Some(width) => {
                    if width < 0 {
                        flags.minus = true;
                        flags.zero = false;
                    }
                    flags.width = usize::try_from(width.abs()).ok();
                }
                None => self.out.push_str("%!(BADWIDTH)"),
            }
            after_index = false;
        } else if let Some(width) = self.digits() {
            flags.width = usize::try_from(width).ok();
            if after_index {
                self.good_index = false;
            }
        }
        if self.peek() == Some('.') {
            self.at += 1;
            if after_index {
                self.good_index = false;
            }
            after_index = self.argument_number();
            if self.peek() == Some('*') {
                self.at += 1;
                match self.star() {
                    Some(precision) if precision >= 0 => flags.precision = usize::try_from(precision).ok(),
                    Some(_) => {}
                    None => self.out.push_str("%!(BADPREC)"),
                }
                after_index = false;
            } else {
                flags.precision = Some(self.digits().and_then(|d| usize::try_from(d).ok()).unwrap_or(0));
            }
        }
        if !after_index {
            self.argument_number();
        }
        let Some(verb) = self.peek() else {
            self.out.push_str("%!(NOVERB)");
            return;
        };
        self.at += verb.len_utf8();
        if verb == '%' {
            self.out.push('%');
        } else if !self.good_index {
            self.out.push_str(&format!("%!{verb}(BADINDEX)"));
        } else if let Some(argument) = self.arguments.get(self.next) {
            self.next += 1;
            if verb == 'v' {
                flags.sharp_v = std::mem::take(&mut flags.sharp);
                flags.plus_v = std::mem::take(&mut flags.plus);
            }
            print_argument(&mut self.out, argument, verb, flags);
        } else {
            self.out.push_str(&format!("%!{verb}(MISSING)"));
        }
    }

    fn digits(&mut self) -> Option<i64> {
        let rest = &self.format[self.at..];
        let length = rest.bytes().take_while(u8::is_ascii_digit).count();
        if length == 0 {
            return None;
        }
        self.at += length;
        Some(rest[..length].parse::<i64>().ok().filter(|n| *n <= LARGEST).unwrap_or(0))
    }

    /// A width or precision taken from an argument.
    fn star(&mut self) -> Option<i64> {
        let argument = self.arguments.get(self.next)?;
        self.next += 1;
        match argument {
            Value::Int(number, _) if number.abs() <= LARGEST => Some(*number),
            _ => None,
        }
    }

    /// `[n]`. True if there was one.
    fn argument_number(&mut self) -> bool {
        if self.peek() != Some('[') {
            return false;
        }
        self.reordered = true;
        let rest = &self.format[self.at..];
        let Some(end) = rest.find(']') else {
            self.good_index = false;
            self.at += 1;
            return false;
        };
        self.at += end + 1;
        match rest[1..end].parse::<usize>() {
            Ok(number) if number >= 1 && number <= self.arguments.len() => {
                self.next = number - 1;
                true
            }
            _ => {
                self.good_index = false;
                true
            }
        }
    }
}
