//! What a group's guard says, in either layout.

use std::str::SplitAsciiWhitespace;

use n_and_i::Layout;

/// The key that says how a group is kept.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Guard {
    Absent,
    /// Of this layout.
    Group(Layout, Line),
    /// Not something that workers wrote.
    Foreign,
}

/// The part of its line that matters to onlookers.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Line {
    /// Of an interval, in ms.
    pub(super) length: u64,
    /// The last interval that somebody registered in.
    pub(super) interval: u64,
    /// How many did.
    pub(super) count: u64,
    /// How many did in the one before; none if that is not known.
    pub(super) previous: Option<u64>,
    /// Whether a lease can rest on that.
    pub(super) rests: bool,
}

impl Guard {
    /// From the text of the layout's line, if there is one.
    pub(super) fn read(layout: Layout, text: Option<&str>) -> Self {
        let Some(text) = text else { return Self::Absent };
        line(layout, text).map_or(Self::Foreign, |line| Self::Group(layout, line))
    }
}

/// docs/layouts.md has the fields.
fn line(layout: Layout, text: &str) -> Option<Line> {
    let mut fields = text.split_ascii_whitespace();
    if fields.next()? != layout.as_str() {
        return None;
    }
    let length = number(&mut fields)?;
    let interval = number(&mut fields)?;
    let count = match layout {
        Layout::Counters => number(&mut fields)?,
        Layout::Slots => {
            let _position = number(&mut fields)?;
            let count = number(&mut fields)?;
            // Top, free, known, gaps.
            fields.nth(3)?;
            count
        }
        _ => return None,
    };
    let _stamp = fields.next()?;
    let previous = fields.next()?.parse().ok();
    let rests = fields.next()? != "-";
    (length > 0).then_some(Line { length, interval, count, previous, rests })
}

fn number(fields: &mut SplitAsciiWhitespace<'_>) -> Option<u64> {
    fields.next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    const LINE: Line =
        Line { length: 30_000, interval: 60_000_002, count: 2, previous: Some(3), rests: true };

    #[test]
    fn both_layouts_are_read() {
        let counters = "counters 30000 60000002 2 1f 3 a0 9c";
        let read = Guard::read(Layout::Counters, Some(counters));
        assert_eq!(read, Guard::Group(Layout::Counters, LINE));
        let slots = "slots 30000 60000002 41 2 3 3 3 0 1f 3 a0 9c";
        assert_eq!(Guard::read(Layout::Slots, Some(slots)), Guard::Group(Layout::Slots, LINE));
    }

    #[test]
    fn what_cannot_be_rested_on_is_told_from_what_can() {
        let read = Guard::read(Layout::Counters, Some("counters 30000 60000002 2 1f -1 - "));
        let line = Line { previous: None, rests: false, ..LINE };
        assert_eq!(read, Guard::Group(Layout::Counters, line));
    }

    #[test]
    fn anything_else_is_foreign() {
        for text in
            ["", "counters", "counters 0 1 2 a 3 b c", "counters x 1 2 a 3 b c", "slots 1 2"]
        {
            assert_eq!(Guard::read(Layout::Counters, Some(text)), Guard::Foreign, "{text}");
        }
        assert_eq!(Guard::read(Layout::Slots, None), Guard::Absent);
    }
}
