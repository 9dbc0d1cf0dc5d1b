//! Drawings as text and as SVG.

use std::fmt::Write;

use super::Drawing;

/// Hues of the colour groups, in degrees; groups past the last start over.
const HUES: [u16; 16] = [
    210, 30, 120, 280, 60, 180, 330, 90, 240, 0, 150, 300, 45, 195, 345, 75,
];

/// Terminal background colours of the same groups (of the 256-colour palette).
const BACKGROUNDS: [u8; 16] = [
    153, 223, 157, 183, 229, 159, 218, 193, 147, 217, 158, 219, 222, 152, 225, 192,
];

impl Drawing {
    /// A table with numbered rows and columns; with `colour`, ANSI escapes colour the cells.
    pub fn to_text(&self, colour: bool) -> String {
        let width = |text: &str| text.chars().count();
        let cell_width = self.cells.iter().map(|c| width(&c.text)).max().unwrap_or(0);
        let cell_width = cell_width.max(self.columns.saturating_sub(1).to_string().len());
        let row_width = self.rows().saturating_sub(1).to_string().len();
        let mut out = format!("{}\n{:row_width$} ", self.title, "");
        for column in 0..self.columns {
            let _ = write!(out, " {column:>cell_width$}");
        }
        let rule = "─".repeat((cell_width + 1) * self.columns);
        let _ = writeln!(out, "\n{:row_width$} ┌{rule}", "");
        for (row, cells) in self.cells.chunks(self.columns.max(1)).enumerate() {
            let _ = write!(out, "{row:>row_width$} │");
            for cell in cells {
                let text = format!("{:>cell_width$}", cell.text);
                match cell.group.filter(|_| colour) {
                    Some(group) => {
                        let background = BACKGROUNDS[group % BACKGROUNDS.len()];
                        let _ = write!(out, " \u{1b}[30;48;5;{background}m{text}\u{1b}[0m");
                    }
                    None => {
                        let _ = write!(out, " {text}");
                    }
                }
            }
            out.truncate(out.trim_end_matches(' ').len());
            out.push('\n');
        }
        out.push_str(&self.remainder());
        out
    }

    /// A line on what is left out, if anything is.
    fn remainder(&self) -> String {
        let count = |n: i64, what: &str| match n {
            0 => None,
            1 => Some(format!("1 {what}")),
            n => Some(format!("{n} {what}s")),
        };
        let (rows, columns) = self.left_out();
        let parts = [count(rows, "row"), count(columns, "column")];
        let parts: Vec<String> = parts.into_iter().flatten().collect();
        match parts.is_empty() {
            true => String::new(),
            false => format!("{} left out\n", parts.join(" and ")),
        }
    }

    /// The same table as a self-contained SVG document.
    pub fn to_svg(&self) -> String {
        const HEIGHT: usize = 24;
        let longest = self
            .cells
            .iter()
            .map(|c| c.text.chars().count())
            .max()
            .unwrap_or(0);
        let width = 16 + 7 * longest.max(2);
        let (left, top) = (40, 48);
        let total = (
            left + width * self.columns + 8,
            top + HEIGHT * self.rows() + 8,
        );
        let mut out = format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0}\" height=\"{1}\" \
             viewBox=\"0 0 {0} {1}\" font-family=\"monospace\" font-size=\"12\" \
             text-anchor=\"middle\">\n<text x=\"8\" y=\"16\" text-anchor=\"start\">{2}</text>\n",
            total.0,
            total.1,
            escaped(&self.title)
        );
        for column in 0..self.columns {
            let x = left + width * column + width / 2;
            let _ = writeln!(
                out,
                "<text x=\"{x}\" y=\"40\" fill=\"#777\">{column}</text>"
            );
        }
        for (row, cells) in self.cells.chunks(self.columns.max(1)).enumerate() {
            let y = top + HEIGHT * row;
            let _ = writeln!(
                out,
                "<text x=\"{}\" y=\"{}\" fill=\"#777\">{row}</text>",
                left / 2,
                y + HEIGHT / 2 + 4
            );
            for (column, cell) in cells.iter().enumerate() {
                let x = left + width * column;
                let fill = match cell.group {
                    Some(group) => format!("hsl({},75%,85%)", HUES[group % HUES.len()]),
                    None => "#fff".to_string(),
                };
                let _ = writeln!(
                    out,
                    "<rect x=\"{x}\" y=\"{y}\" width=\"{width}\" height=\"{HEIGHT}\" \
                     fill=\"{fill}\" stroke=\"#555\"/><text x=\"{}\" y=\"{}\">{}</text>",
                    x + width / 2,
                    y + HEIGHT / 2 + 4,
                    escaped(&cell.text)
                );
            }
        }
        out.push_str("</svg>\n");
        out
    }
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
}
