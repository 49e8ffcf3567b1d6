//! Tests that every kind of figure is drawn as PNG in its colours; unknown content is refused.

use super::*;
use crate::document::{figure_names, figure_svg, html, landscape_svg};
use crate::quantity::Quantity;
use crate::sample;
use flate2::read::ZlibDecoder;
use std::io::Read as _;

/// The width, height and pixels of a PNG file of ours.
fn decoded(file: &[u8]) -> (usize, usize, Vec<[u8; 4]>) {
    let word = |at: usize| u32::from_be_bytes(file[at..at + 4].try_into().unwrap()) as usize;
    let (width, height) = (word(16), word(20));
    let at = file.windows(4).position(|name| name == b"IDAT").expect("pixels") + 4;
    let mut rows = Vec::new();
    ZlibDecoder::new(&file[at..]).read_to_end(&mut rows).expect("packed rows");
    let mut above = vec![0_u8; 4 * width];
    let mut pixels = Vec::new();
    for row in rows.chunks_exact(4 * width + 1) {
        for (over, one) in above.iter_mut().zip(&row[1..]) {
            *over = over.wrapping_add(*one);
        }
        pixels.extend(above.as_chunks::<4>().0);
    }
    (width, height, pixels)
}

fn holds(pixels: &[[u8; 4]], [red, green, blue]: [u8; 3]) -> bool {
    pixels.contains(&[red, green, blue, 255])
}

#[test]
fn every_figure_of_every_kind_is_drawn() {
    let mut seen = 0;
    for document in sample::hostile() {
        let page = html(&document, Quantity::default());
        for name in figure_names(&page) {
            let svg = figure_svg(&page, &name, Quantity::default()).unwrap();
            // Small, to save time.
            let picture = super::drawn(&svg, 0.5).unwrap_or_else(|e| panic!("{name}: {e}"));
            let sheet = picture.pixels().iter().filter(|pixel| pixel.red() == 0xff).count();
            let all = picture.pixels().len();
            assert!((all / 3..all).contains(&sheet), "{name}: {sheet} of {all} pixels are empty");
            seen += 1;
        }
    }
    assert!(seen > 20, "only {seen} figures");
}

#[test]
fn a_landscape_has_its_size_and_its_colours() {
    let svg = landscape_svg(&sample::evaluated(), Quantity::Throughput).unwrap();
    let (width, height, pixels) = decoded(&png(&svg).unwrap());
    assert_eq!((width, height), (2240, 1080));
    // The colours of reads, of writes and of both.
    for colour in [[0x00, 0x80, 0x5d], [0xc2, 0x4e, 0x00], [0x00, 0x72, 0xb2]] {
        assert!(holds(&pixels, colour), "{colour:?} is not there");
    }
    assert_eq!(pixels[0][3], 0, "nothing beyond the round corner");
}

const SVG: &str = r#"<svg xmlns="http://www.w3.org/2000/svg" width="40" height="20">"#;

fn picture(inside: &str) -> Vec<[u8; 4]> {
    decoded(&png(&format!("{SVG}{inside}</svg>")).unwrap()).2
}

/// The number of pixels that are not empty.
fn inked(pixels: &[[u8; 4]]) -> usize {
    pixels.iter().filter(|pixel| pixel[3] > 0).count()
}

#[test]
fn text_is_drawn_where_it_is_anchored_and_heavier_in_bold() {
    let line = |anchor: &str| {
        picture(&format!(
            r#"<text x="20" y="15" text-anchor="{anchor}" font-size="10px">iIl</text>"#
        ))
    };
    let right = |pixels: &[[u8; 4]]| {
        let found = pixels.iter().enumerate().filter(|(at, pixel)| pixel[3] > 0 && at % 80 >= 40);
        found.count() as f64 / inked(pixels) as f64
    };
    assert_eq!(right(&line("start")), 1.0);
    assert_eq!(right(&line("end")), 0.0);
    let middle = right(&line("middle"));
    assert!((0.2..0.8).contains(&middle), "{middle}");
    let bold = picture(r#"<text x="20" y="15" font-size="10px" font-weight="650">iIl</text>"#);
    assert!(inked(&bold) > inked(&line("start")));
}

/// Once, the names of two systems were both drawn as two boxes.
#[test]
fn letters_that_the_font_lacks_are_refused_by_name() {
    let drawn = |line: &str| png(&format!(r#"{SVG}<text y="15">{line}</text></svg>"#));
    let symbols = "a\u{2026}b \u{2013} \u{2192} \u{2122} \u{202e}";
    for line in ["größe, Ω, ж \u{b7} 3 \u{b5}s \u{d7} \u{2212}1", symbols] {
        assert!(drawn(line).is_ok(), "{line}");
    }
    let why = drawn("東京/a").unwrap_err().to_string();
    assert_eq!(why, "the font of PNG lacks letters of the picture (京, 東): take it as SVG");
    assert!(drawn(&"字".repeat(20)).unwrap_err().to_string().contains("(字)"));
}

/// Once, file names from macOS were refused.
#[test]
fn accents_that_stand_alone_leave_their_letters() {
    let line = |text: &str| picture(&format!(r#"<text y="15">{text}</text>"#));
    assert!(line("Gro\u{308}ße") == line("Große"));
}

#[test]
fn dashes_leave_gaps_and_hidden_parts_nothing() {
    let line = |style: &str| {
        inked(&picture(&format!(r##"<path d="M0 10H40" stroke="#000000" fill="none" {style}/>"##)))
    };
    assert!(line("") > line(r#"stroke-dasharray="2 2""#));
    assert_eq!(line(r#"display="none""#), 0);
    assert_eq!(inked(&picture("<title>said, not drawn</title>")), 0);
}

#[test]
fn what_is_not_known_is_refused() {
    let refused = |inside: &str| png(&format!("{SVG}{inside}</svg>")).unwrap_err().to_string();
    assert!(refused(r#"<circle r="2"/>"#).contains("circle"));
    assert!(refused(r#"<path d="M0 0C1 1 2 2 3 3"/>"#).contains("path M0 0C1"));
    assert!(refused("<g>").contains("no SVG"));
    let huge = SVG.replace("40", "99999999").replace("20\"", "99999999\"");
    assert!(matches!(png(&format!("{huge}</svg>")), Err(PictureError::Size)));
    assert!(matches!(png("<svg/>"), Err(PictureError::Size)));
}
