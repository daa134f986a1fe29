//! What a picture is drawn on: shapes and text at whole pixels, so that one run gives one file.

use std::io;

use plotters::coord::Shift;
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};

/// The font that every viewer has.
const FONT: &str = "sans-serif";
/// What the backend divides sizes by.
const FONT_SCALE: f64 = 1.24;

pub(super) type Point = (i32, i32);
pub(super) type Drawn = io::Result<()>;

pub(super) struct Canvas<'a>(DrawingArea<SVGBackend<'a>, Shift>);

/// How text is set.
#[derive(Clone, Copy)]
pub(super) struct Style {
    pub(super) size: i32,
    pub(super) colour: RGBColor,
    pub(super) bold: bool,
    pub(super) anchor: HPos,
}

impl Style {
    pub(super) const fn new(size: i32, colour: RGBColor) -> Self {
        Self { size, colour, bold: false, anchor: HPos::Left }
    }

    pub(super) const fn bold(self) -> Self {
        Self { bold: true, ..self }
    }

    pub(super) const fn centred(self) -> Self {
        Self { anchor: HPos::Center, ..self }
    }

    /// Ends at its point.
    pub(super) const fn ending(self) -> Self {
        Self { anchor: HPos::Right, ..self }
    }

    /// How many pixels a text takes at most, about: letters of common fonts are no wider.
    pub(super) fn width(self, text: &str) -> i32 {
        let letters = i32::try_from(text.chars().count()).unwrap_or(i32::MAX);
        letters.saturating_mul(self.size) * if self.bold { 64 } else { 55 } / 100
    }
}

impl<'a> Canvas<'a> {
    pub(super) fn new(svg: &'a mut String, (width, height): Point) -> io::Result<Self> {
        let size = (width.unsigned_abs(), height.unsigned_abs());
        let area = SVGBackend::with_string(svg, size).into_drawing_area();
        area.fill(&WHITE).map_err(io::Error::other)?;
        Ok(Self(area))
    }

    pub(super) fn finish(&self) -> Drawn {
        self.0.present().map_err(io::Error::other)
    }

    pub(super) fn rectangle(&self, corners: [Point; 2], fill: RGBColor) -> Drawn {
        self.0.draw(&Rectangle::new(corners, fill.filled())).map_err(io::Error::other)
    }

    pub(super) fn line(&self, points: Vec<Point>, colour: RGBColor, width: u32) -> Drawn {
        self.0.draw(&PathElement::new(points, colour.stroke_width(width))).map_err(io::Error::other)
    }

    pub(super) fn polygon(&self, points: Vec<Point>, fill: RGBColor) -> Drawn {
        self.0.draw(&Polygon::new(points, fill.filled())).map_err(io::Error::other)
    }

    pub(super) fn ring(&self, centre: Point, radius: i32, colour: RGBColor) -> Drawn {
        let disc = Circle::new(centre, radius, WHITE.filled());
        self.0.draw(&disc).map_err(io::Error::other)?;
        self.0.draw(&Circle::new(centre, radius, colour.stroke_width(2))).map_err(io::Error::other)
    }

    /// Around the height of its point.
    pub(super) fn text(&self, text: &str, at: Point, style: Style) -> Drawn {
        let weight = if style.bold { FontStyle::Bold } else { FontStyle::Normal };
        let font = FontDesc::new(FONT.into(), f64::from(style.size) * FONT_SCALE, weight);
        let set = font.color(&style.colour).pos(Pos::new(style.anchor, VPos::Center));
        self.0.draw(&Text::new(text.to_owned(), at, set)).map_err(io::Error::other)
    }

    /// A cross, as where a worker vanished.
    pub(super) fn cross(&self, (x, y): Point, radius: i32, colour: RGBColor) -> Drawn {
        self.line(vec![(x - radius, y - radius), (x + radius, y + radius)], colour, 3)?;
        self.line(vec![(x - radius, y + radius), (x + radius, y - radius)], colour, 3)
    }

    /// Thin slanting lines on white, with an edge: one stroke, up one line and down the next.
    pub(super) fn hatched(&self, [(x0, y0), (x1, y1)]: [Point; 2], colour: RGBColor) -> Drawn {
        let height = y1 - y0;
        self.rectangle([(x0, y0), (x1, y1)], WHITE)?;
        let mut stroke = vec![(x1, y1), (x1, y0), (x0, y0), (x0, y1)];
        // In step across neighbours.
        let first = (x0 - height).div_euclid(HATCH) * HATCH;
        for foot in (first..x1).step_by(HATCH.unsigned_abs() as usize) {
            let (low, high) = ((x0 - foot).max(0), (x1 - foot).min(height));
            if low < high {
                let mut line = [(foot + low, y1 - low), (foot + high, y1 - high)];
                if foot.div_euclid(HATCH) % 2 != 0 {
                    line.reverse();
                }
                stroke.extend(line);
            }
        }
        stroke.push((x1, y1));
        self.line(stroke, colour, 1)
    }
}

/// How far apart the lines of a hatch are.
const HATCH: i32 = 5;
