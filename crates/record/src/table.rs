use csv_core::{WriteResult, Writer};
use std::io::{self, Write};
use std::net::{IpAddr, SocketAddr};

/// Bytes that gather before they are written.
const BUFFER: usize = 1 << 16;

/// A table of comma-separated values (RFC 4180), of which only complete lines are written to `W`.
///
/// Rows gather until there are 64 KiB of them; call [`flush`](Self::flush) at the end, or errors are
/// lost. Rows that could not be written are lost.
pub struct Table<W: Write> {
    out: W,
    columns: usize,
    encoder: Writer,
    lines: Vec<u8>,
    /// Bytes of `lines` that are complete lines.
    complete: usize,
    /// Rows in them.
    gathered: u64,
    /// Rows, and bytes of all lines, that have been written.
    rows: u64,
    bytes: u64,
}

impl<W: Write> Table<W> {
    /// A table with these columns, whose names are its first line, which is written at once.
    ///
    /// # Errors
    /// If the writer underneath fails.
    pub fn new(out: W, columns: &[impl AsRef<str>]) -> io::Result<Self> {
        let (encoder, lines) = (Writer::new(), Vec::with_capacity(BUFFER));
        let (complete, gathered, rows, bytes) = (0, 0, 0, 0);
        let mut table =
            Table { out, columns: columns.len(), encoder, lines, complete, gathered, rows, bytes };
        let header = columns.iter().fold(table.row(), |row, name| row.field(name.as_ref()));
        header.end()?;
        table.gathered = 0;
        table.flush()?;
        Ok(table)
    }

    /// A new row, which counts once it has as many fields as there are columns and has ended.
    pub fn row(&mut self) -> Row<'_, W> {
        if self.lines.len() > self.complete {
            // The row before was given up.
            self.lines.truncate(self.complete);
            self.encoder = Writer::new();
        }
        Row { table: self, fields: 0 }
    }

    /// Writes what has gathered.
    ///
    /// # Errors
    /// If the writer underneath fails.
    pub fn flush(&mut self) -> io::Result<()> {
        let written = self.out.write_all(&self.lines[..self.complete]);
        if written.is_ok() {
            self.rows += self.gathered;
            self.bytes += self.complete as u64;
        }
        self.lines.clear();
        (self.complete, self.gathered) = (0, 0);
        written.and_then(|()| self.out.flush())
    }

    /// Rows that have been written.
    pub fn rows(&self) -> u64 {
        self.rows
    }

    /// Bytes of the lines that have been written or have gathered.
    pub fn bytes(&self) -> u64 {
        self.bytes + self.complete as u64
    }

    /// Appends what `encode` makes of the rest of the buffer, of which it needs so many bytes at most.
    fn encode(&mut self, most: usize, encode: impl FnOnce(&mut Writer, &mut [u8]) -> usize) {
        let start = self.lines.len();
        self.lines.resize(start + most, 0);
        let bytes = encode(&mut self.encoder, &mut self.lines[start..]);
        self.lines.truncate(start + bytes);
    }
}

impl<W: Write> Drop for Table<W> {
    fn drop(&mut self) {
        // A caller that needs the error flushes before.
        let _ = self.flush();
    }
}

/// A row of a [`Table`] that is being written.
#[must_use = "a row counts once it has ended"]
pub struct Row<'a, W: Write> {
    table: &'a mut Table<W>,
    fields: usize,
}

impl<W: Write> Row<'_, W> {
    /// Adds a field.
    #[expect(clippy::needless_pass_by_value, reason = "fields are numbers and references")]
    pub fn field(mut self, value: impl Field) -> Self {
        value.encode(&mut |bytes| self.append(bytes));
        self
    }

    /// Adds a field for each of `values`.
    pub fn fields(self, values: impl IntoIterator<Item = impl Field>) -> Self {
        values.into_iter().fold(self, Self::field)
    }

    /// Ends the row.
    ///
    /// # Errors
    /// If it does not have as many fields as the table has columns, or the writer underneath fails.
    pub fn end(self) -> io::Result<()> {
        let Row { table, fields } = self;
        if fields != table.columns {
            let columns = table.columns;
            let message = format!("a row of {fields} fields in a table of {columns} columns");
            return Err(io::Error::new(io::ErrorKind::InvalidData, message));
        }
        table.encode(8, |encoder, out| encoder.terminator(out).1);
        table.complete = table.lines.len();
        table.gathered += 1;
        if table.complete < BUFFER { Ok(()) } else { table.flush() }
    }

    fn append(&mut self, bytes: &[u8]) {
        let first = self.fields == 0;
        self.fields += 1;
        // Quotes around it, and each of its own twice.
        self.table.encode(2 * bytes.len() + 8, |encoder, out| {
            let delimiter = if first { 0 } else { encoder.delimiter(out).1 };
            let (result, _, field) = encoder.field(bytes, &mut out[delimiter..]);
            debug_assert_eq!(result, WriteResult::InputEmpty);
            delimiter + field
        });
    }
}

/// What can stand in a field.
pub trait Field {
    /// Hands over the text of the field, once.
    fn encode(&self, append: &mut dyn FnMut(&[u8]));
}

impl Field for &str {
    /// Control characters are escaped, so that a line is a row.
    fn encode(&self, append: &mut dyn FnMut(&[u8])) {
        if !self.contains(char::is_control) {
            return append(self.as_bytes());
        }
        let text: String = self
            .chars()
            .map(|each| if each.is_control() { each.escape_default().to_string() } else { each.into() })
            .collect();
        append(text.as_bytes());
    }
}

impl Field for f64 {
    fn encode(&self, append: &mut dyn FnMut(&[u8])) {
        append(self.to_string().as_bytes());
    }
}

impl Field for IpAddr {
    fn encode(&self, append: &mut dyn FnMut(&[u8])) {
        append(self.to_string().as_bytes());
    }
}

/// `10.0.0.1:5201` or `[fd00::1]:5201`.
impl Field for SocketAddr {
    fn encode(&self, append: &mut dyn FnMut(&[u8])) {
        append(self.to_string().as_bytes());
    }
}

macro_rules! integer {
    ($($kind:ty),*) => {$(
        impl Field for $kind {
            fn encode(&self, append: &mut dyn FnMut(&[u8])) {
                append(itoa::Buffer::new().format(*self).as_bytes());
            }
        }
    )*};
}

integer!(u8, u16, u32, u64, usize);

/// An empty field if there is none.
impl<F: Field> Field for Option<F> {
    fn encode(&self, append: &mut dyn FnMut(&[u8])) {
        match self {
            Some(value) => value.encode(append),
            None => append(b""),
        }
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// The lines of a table of one row, without their ends.
    pub(crate) fn lines(
        columns: &[impl AsRef<str>],
        write: impl FnOnce(&mut Table<&mut Vec<u8>>) -> io::Result<()>,
    ) -> Vec<String> {
        let mut out = Vec::new();
        let mut table = Table::new(&mut out, columns).unwrap();
        write(&mut table).unwrap();
        drop(table);
        std::str::from_utf8(&out).unwrap().lines().map(str::to_owned).collect()
    }

    fn written(text: &str) -> String {
        let mut out = Vec::new();
        let mut table = Table::new(&mut out, &["number", "text"]).unwrap();
        table.row().field(7u32).field(text).end().unwrap();
        drop(table);
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn what_would_end_a_field_is_quoted() {
        assert_eq!(written("speaks SOCKS 4, not 5"), "number,text\n7,\"speaks SOCKS 4, not 5\"\n");
        assert_eq!(written("a \"name\""), "number,text\n7,\"a \"\"name\"\"\"\n");
        assert_eq!(written(""), "number,text\n7,\n");
    }

    #[test]
    fn a_line_is_a_row_whatever_is_in_it() {
        assert_eq!(written("a\r\nb\0"), "number,text\n7,a\\r\\nb\\u{0}\n");
    }

    #[test]
    fn addresses_are_fields() {
        let mut out = Vec::new();
        let mut table = Table::new(&mut out, &["host", "local", "remote"]).unwrap();
        let (host, local): (IpAddr, SocketAddr) = ([10, 0, 0, 1].into(), "[fd00::1]:80".parse().unwrap());
        table.row().field(host).field(local).field(None::<SocketAddr>).end().unwrap();
        drop(table);
        assert_eq!(out, b"host,local,remote\n10.0.0.1,[fd00::1]:80,\n");
    }

    #[test]
    fn what_is_missing_is_an_empty_field() {
        let mut out = Vec::new();
        let mut table = Table::new(&mut out, &["a", "b", "c"]).unwrap();
        table.row().field(None::<u64>).field(Some(10.5)).field(None::<&str>).end().unwrap();
        drop(table);
        assert_eq!(out, b"a,b,c\n,10.5,\n");
    }

    #[test]
    fn a_row_that_has_not_ended_or_has_not_all_fields_is_not_written() {
        let mut out = Vec::new();
        let mut table = Table::new(&mut out, &["a", "b"]).unwrap();
        drop(table.row().field(1u8));
        assert!(table.row().field(2u8).end().is_err());
        assert!(table.row().fields([3u8, 4, 5]).end().is_err());
        table.row().fields([6u8, 7]).end().unwrap();
        drop(table);
        assert_eq!(out, b"a,b\n6,7\n");
    }

    #[test]
    fn only_complete_lines_are_written_at_once() {
        struct Lines(usize);
        impl Write for Lines {
            fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
                assert_eq!(bytes.last(), Some(&b'\n'));
                self.0 += bytes.len();
                Ok(bytes.len())
            }
            fn flush(&mut self) -> io::Result<()> {
                Ok(())
            }
        }
        let mut table = Table::new(Lines(0), &["text"]).unwrap();
        for _ in 0..10_000 {
            table.row().field("thirteen byte").end().unwrap();
        }
        assert!(table.out.0 > BUFFER);
        table.flush().unwrap();
        assert_eq!(table.out.0, 5 + 140_000);
    }
}
