//! The colours of a picture.
//!
//! Neighbouring indices differ in lightness too, and are written on bars that have room, so that
//! nobody has to tell colours apart.

use plotters::style::{BLACK, RGBColor, WHITE};

/// Of indices, again and again.
const INDICES: [RGBColor; 8] = [
    RGBColor(86, 180, 233),
    RGBColor(0, 92, 156),
    RGBColor(245, 178, 42),
    RGBColor(0, 135, 102),
    RGBColor(240, 228, 120),
    RGBColor(136, 84, 160),
    RGBColor(172, 206, 130),
    RGBColor(150, 98, 52),
];

pub(super) const TEXT: RGBColor = RGBColor(36, 41, 47);
pub(super) const QUIET: RGBColor = RGBColor(101, 109, 118);
/// Where intervals begin.
pub(super) const GRID: RGBColor = RGBColor(214, 219, 225);
pub(super) const IDLE: RGBColor = RGBColor(222, 225, 229);
pub(super) const HATCH: RGBColor = RGBColor(165, 172, 180);
pub(super) const TICK: RGBColor = RGBColor(70, 76, 84);
pub(super) const PLANNED: RGBColor = RGBColor(36, 41, 47);
pub(super) const FAULT: RGBColor = RGBColor(200, 16, 46);
pub(super) const CURVE: RGBColor = RGBColor(0, 92, 156);
pub(super) const UNDER_CURVE: RGBColor = RGBColor(214, 229, 242);

/// Of what belongs to an index.
pub(super) fn of_index(index: u32) -> RGBColor {
    INDICES[index as usize % INDICES.len()]
}

/// The same, for what is served only in part.
pub(super) fn pale(RGBColor(red, green, blue): RGBColor) -> RGBColor {
    let mixed = |part: u8| u8::try_from((u16::from(part) + 3 * 255) / 4).unwrap_or(u8::MAX);
    RGBColor(mixed(red), mixed(green), mixed(blue))
}

/// For text on this colour.
pub(super) fn on(RGBColor(red, green, blue): RGBColor) -> RGBColor {
    let light = 299 * u32::from(red) + 587 * u32::from(green) + 114 * u32::from(blue);
    if light < 128_000 { WHITE } else { BLACK }
}
