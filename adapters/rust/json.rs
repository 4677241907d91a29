//! As much JSON as a driver needs. A text is UTF-16, as MSMQ has it: half of a surrogate pair, which is no UTF-8, goes
//! through as well as any other character.

use std::fmt;

const DEEPEST: usize = 64; // objects and arrays in each other: a hostile line must not overflow the stack

pub type Text = Vec<u16>;

#[derive(Clone, PartialEq)]
pub enum Json {
    Null,
    Bool(bool),
    Number(f64),
    Text(Text),
    Array(Vec<Json>),
    Object(Vec<(String, Json)>),
}

impl From<&str> for Json {
    fn from(text: &str) -> Json {
        Json::Text(text.encode_utf16().collect())
    }
}

impl From<u32> for Json {
    fn from(number: u32) -> Json {
        Json::Number(f64::from(number))
    }
}

/// Makes an object.
pub fn object<const N: usize>(members: [(&str, Json); N]) -> Json {
    Json::Object(
        members
            .into_iter()
            .map(|(name, value)| (name.to_string(), value))
            .collect(),
    )
}

/// Makes an array of texts.
pub fn texts(all: &[&str]) -> Json {
    Json::Array(all.iter().map(|each| Json::from(*each)).collect())
}

static NULL: Json = Json::Null;

impl Json {
    /// Returns null for a member that is not there.
    pub fn member(&self, name: &str) -> &Json {
        match self {
            Json::Object(members) => members
                .iter()
                .find(|(each, _)| each == name)
                .map_or(&NULL, |(_, value)| value),
            _ => &NULL,
        }
    }

    /// Returns an empty text for a value that is none.
    pub fn text(&self) -> Text {
        match self {
            Json::Text(text) => text.clone(),
            _ => Text::new(),
        }
    }

    pub fn string(&self) -> String {
        String::from_utf16_lossy(&self.text())
    }

    pub fn number(&self) -> Option<f64> {
        match self {
            Json::Number(number) => Some(*number),
            _ => None,
        }
    }

    /// Returns None for a line that is not JSON.
    pub fn parse(line: &str) -> Option<Json> {
        let mut reader = Reader { rest: line };
        let value = reader.value(0)?;
        reader.blank();
        reader.rest.is_empty().then_some(value)
    }
}

impl fmt::Display for Json {
    fn fmt(&self, out: &mut fmt::Formatter) -> fmt::Result {
        match self {
            Json::Null => write!(out, "null"),
            Json::Bool(value) => write!(out, "{value}"),
            Json::Number(number) => write!(out, "{number}"),
            Json::Text(text) => write_text(out, text),
            Json::Array(items) => {
                write!(out, "[")?;
                for (index, item) in items.iter().enumerate() {
                    write!(out, "{}{item}", if index > 0 { "," } else { "" })?;
                }
                write!(out, "]")
            }
            Json::Object(members) => {
                write!(out, "{{")?;
                for (index, (name, value)) in members.iter().enumerate() {
                    write!(
                        out,
                        "{}\"{name}\":{value}",
                        if index > 0 { "," } else { "" }
                    )?;
                }
                write!(out, "}}")
            }
        }
    }
}

// ASCII only.
fn write_text(out: &mut fmt::Formatter, text: &[u16]) -> fmt::Result {
    write!(out, "\"")?;
    for unit in text {
        match u8::try_from(*unit) {
            Ok(byte) if (b' '..127).contains(&byte) && byte != b'"' && byte != b'\\' => {
                write!(out, "{}", byte as char)?
            }
            _ => write!(out, "\\u{unit:04x}")?,
        }
    }
    write!(out, "\"")
}

struct Reader<'a> {
    rest: &'a str,
}

impl Reader<'_> {
    fn blank(&mut self) {
        self.rest = self.rest.trim_start_matches([' ', '\t', '\r', '\n']);
    }

    fn skip(&mut self, word: &str) -> bool {
        self.blank();
        let found = self.rest.starts_with(word);
        if found {
            self.rest = &self.rest[word.len()..];
        }
        found
    }

    fn take(&mut self) -> Option<char> {
        let c = self.rest.chars().next()?;
        self.rest = &self.rest[c.len_utf8()..];
        Some(c)
    }

    fn value(&mut self, depth: usize) -> Option<Json> {
        if depth > DEEPEST {
            return None;
        }
        for (word, value) in [
            ("null", Json::Null),
            ("true", Json::Bool(true)),
            ("false", Json::Bool(false)),
        ] {
            if self.skip(word) {
                return Some(value);
            }
        }
        if self.skip("{") {
            return self.members(depth);
        }
        if self.skip("[") {
            return self.items(depth);
        }
        if self.rest.starts_with('"') {
            return self.text().map(Json::Text);
        }
        let end = self
            .rest
            .find(|c: char| !"+-.eE0123456789".contains(c))
            .unwrap_or(self.rest.len());
        let number = self.rest[..end].parse().ok()?;
        self.rest = &self.rest[end..];
        Some(Json::Number(number))
    }

    fn members(&mut self, depth: usize) -> Option<Json> {
        let mut members = Vec::new();
        if self.skip("}") {
            return Some(Json::Object(members));
        }
        loop {
            let name = String::from_utf16_lossy(&self.text()?);
            if !self.skip(":") {
                return None;
            }
            members.push((name, self.value(depth + 1)?));
            if self.skip("}") {
                return Some(Json::Object(members));
            }
            if !self.skip(",") {
                return None;
            }
        }
    }

    fn items(&mut self, depth: usize) -> Option<Json> {
        let mut items = Vec::new();
        if self.skip("]") {
            return Some(Json::Array(items));
        }
        loop {
            items.push(self.value(depth + 1)?);
            if self.skip("]") {
                return Some(Json::Array(items));
            }
            if !self.skip(",") {
                return None;
            }
        }
    }

    fn text(&mut self) -> Option<Text> {
        if !self.skip("\"") {
            return None;
        }
        let mut text = Text::new();
        loop {
            let mut c = self.take()?;
            if c == '"' {
                return Some(text);
            }
            if c == '\\' {
                c = self.take()?;
                if c == 'u' {
                    text.push(u16::from_str_radix(self.rest.get(..4)?, 16).ok()?);
                    self.rest = &self.rest[4..];
                    continue;
                }
                c = match c {
                    'b' => '\u{8}',
                    'f' => '\u{c}',
                    'n' => '\n',
                    'r' => '\r',
                    't' => '\t',
                    other => other,
                };
            }
            text.extend_from_slice(c.encode_utf16(&mut [0; 2]));
        }
    }
}
