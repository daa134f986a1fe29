//! From styled lines to what a terminal is sent.

use crossterm::style::{Color, ContentStyle, Stylize};

use crate::terminal::text::{Line, Style};

/// Told apart on dark and light grounds alike.
const WORKERS: [Color; 12] = [
    Color::DarkCyan,
    Color::DarkMagenta,
    Color::DarkGreen,
    Color::DarkYellow,
    Color::Blue,
    Color::Red,
    Color::Cyan,
    Color::Magenta,
    Color::Green,
    Color::Yellow,
    Color::DarkBlue,
    Color::DarkRed,
];

/// The line, cut to the width, with colours or without any styling.
pub(crate) fn paint(line: &Line, width: usize, colours: bool) -> String {
    line.cut(width)
        .map(|(style, text)| if colours { look(style).apply(text).to_string() } else { text })
        .collect()
}

fn look(style: Style) -> ContentStyle {
    let plain = ContentStyle::new();
    match style {
        Style::Plain => plain,
        Style::Strong => plain.bold(),
        Style::Faint => plain.dim(),
        Style::Good => plain.green(),
        Style::Middling => plain.yellow(),
        Style::Bad => plain.red(),
        Style::Worker(number) => plain.with(WORKERS[number % WORKERS.len()]),
        Style::Block(number) => look(Style::Worker(number)).reverse(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_colours_there_is_only_text() {
        let line = Line::strong("one").then(Style::Worker(14), "two").then(Style::Faint, "three");
        assert_eq!(paint(&line, 8, false), "onetwoth");
        assert!(paint(&line, 8, true).contains("\x1b[1mone"));
    }
}
