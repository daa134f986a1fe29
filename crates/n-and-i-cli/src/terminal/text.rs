//! Lines of styled text.

/// A line, made of pieces.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) struct Line {
    pieces: Vec<(Style, String)>,
}

/// What a piece of text means; how that looks is the painter's.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Style {
    Plain,
    Strong,
    Faint,
    Good,
    Middling,
    Bad,
    /// Belongs to the worker with this number.
    Worker(usize),
    /// The same, and stands on ground of its colour.
    Block(usize),
}

impl Line {
    pub(crate) fn new() -> Self {
        Self::default()
    }

    #[cfg(test)]
    pub(crate) fn plain(text: impl AsRef<str>) -> Self {
        Self::new().then(Style::Plain, text)
    }

    pub(crate) fn strong(text: impl AsRef<str>) -> Self {
        Self::new().then(Style::Strong, text)
    }

    /// Adds a piece. Control characters, which would disturb the picture, become dots.
    #[must_use]
    pub(crate) fn then(mut self, style: Style, text: impl AsRef<str>) -> Self {
        let text = text.as_ref().replace(char::is_control, "·");
        match self.pieces.last_mut() {
            Some((last, end)) if *last == style => end.push_str(&text),
            _ => self.pieces.push((style, text)),
        }
        self
    }

    /// Adds spaces up to this width.
    #[must_use]
    pub(crate) fn up_to(self, width: usize) -> Self {
        let missing = width.saturating_sub(self.width());
        self.then(Style::Plain, " ".repeat(missing))
    }

    /// Adds what fits of another line into this width.
    #[must_use]
    pub(crate) fn followed_by(self, other: &Self, width: usize) -> Self {
        other.cut(width).fold(self, |line, (style, text)| line.then(style, text))
    }

    pub(crate) fn width(&self) -> usize {
        self.pieces.iter().map(|(_, text)| text.chars().count()).sum()
    }

    /// The pieces that fit into this width.
    pub(crate) fn cut(&self, width: usize) -> impl Iterator<Item = (Style, String)> {
        let mut left = width;
        self.pieces.iter().map(move |(style, text)| {
            let text: String = text.chars().take(left).collect();
            left -= text.chars().count();
            (*style, text)
        })
    }
}

/// Breaks words into lines of this width.
pub(crate) fn wrap(text: &str, width: usize) -> Vec<String> {
    let mut lines = Vec::new();
    let mut line = String::new();
    for word in text.split(' ') {
        if !line.is_empty() && line.chars().count() + 1 + word.chars().count() > width {
            lines.push(std::mem::take(&mut line));
        }
        if !line.is_empty() {
            line.push(' ');
        }
        line.push_str(word);
    }
    lines.push(line);
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_cut_to_a_width() {
        let line = Line::strong("grüße").then(Style::Plain, " an\nalle");
        assert_eq!(line.width(), 13);
        let cut: Vec<_> = line.cut(8).collect();
        assert_eq!(cut, [(Style::Strong, "grüße".to_owned()), (Style::Plain, " an".to_owned())]);
        let cut = Line::strong("> ").followed_by(&line, 8);
        assert_eq!(cut, Line::strong("> grüße").then(Style::Plain, " an"));
        let all: String = line.up_to(15).cut(99).map(|(_, text)| text).collect();
        assert_eq!(all, "grüße an·alle  ");
    }

    #[test]
    fn words_are_wrapped() {
        assert_eq!(wrap("one two three", 7), ["one two", "three"]);
        assert_eq!(wrap("one two three", 1), ["one", "two", "three"]);
        assert_eq!(wrap("", 5), [""]);
    }
}
