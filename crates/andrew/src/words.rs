//! Words and functions that the source tree is made of.

/// Names of the headers; the first 14 are in `include`, the next 11 in `include/sys`, the rest in `include/netinet`.
pub(crate) const HEADERS: [&str; 31] = [
    "window", "display", "font", "menu", "cursor", "region", "bitmap", "event", "screen", "layout",
    "text", "line", "scroll", "client", "types", "param", "file", "proc", "buffer", "signal",
    "socket", "timer", "vnode", "queue", "memory", "packet", "route", "address", "port", "header",
    "checksum",
];

/// Names, without `.c`, of the sources that are compiled.
pub(crate) const UNITS: [&str; 17] = [
    "wm",
    "drawing",
    "fonts",
    "menus",
    "mouse",
    "regions",
    "raster",
    "events",
    "screens",
    "layouts",
    "textio",
    "lines",
    "scrolling",
    "clients",
    "tiles",
    "names",
    "version",
];

const WORDS: [&str; 40] = [
    "after", "before", "border", "called", "change", "clear", "copies", "count", "draws", "edge",
    "every", "first", "given", "holds", "inner", "keeps", "later", "least", "left", "moved",
    "never", "next", "outer", "paint", "place", "point", "right", "saved", "shape", "shown",
    "since", "small", "state", "still", "table", "taken", "until", "value", "where", "width",
];

/// A deterministic source of words and numbers; its output depends only on its seed.
pub(crate) struct Words {
    state: u64,
}

impl Words {
    /// Creates a source with a seed.
    pub(crate) fn new(seed: u64) -> Self {
        Self { state: seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ 0x5bd1_e995 }
    }

    /// Returns a number from `least` to `most`.
    pub(crate) fn number(&mut self, least: u64, most: u64) -> u64 {
        self.state = self
            .state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        least + (self.state >> 33) % (most - least + 1)
    }

    /// Returns a word.
    pub(crate) fn word(&mut self) -> &'static str {
        WORDS[self.number(0, WORDS.len() as u64 - 1) as usize]
    }
}

/// Returns a function of one of six kinds. Its name contains its number within its source; `home`
/// and `other` are headers that it may use.
pub(crate) fn function(
    words: &mut Words,
    unit: &str,
    made: usize,
    home: &str,
    other: &str,
) -> String {
    let name = format!("{unit}_{}_{made}", words.word());
    let upper = other.to_uppercase();
    let own = home.to_uppercase();
    let [a, b, c] = [words.number(2, 90), words.number(3, 700), words.number(1, 12)];
    match made % 6 {
        1 => format!(
            "\n/* Adds up {} cells of {other}. */\nint {name}(int *cells, int count)\n{{\n    int i, sum;\n\n    sum = {a};\n    for (i = 0; i < count && i < {upper}_LIMIT; i++) {{\n        sum += {upper}_SCALE(cells[i], i) & {upper}_MASK;\n        if (sum > {b} * {c})\n            sum -= cells[i] + {own}_LIMIT;\n    }}\n    return sum;\n}}\n",
            words.word()
        ),
        2 => format!(
            "\nstatic char {name}_marks[] = \"{} {} {}\";\n\nint {name}(char *from, int state)\n{{\n    int seen = 0;\n\n    while (*from) {{\n        switch (*from) {{\n        case ' ':\n        case '\\t':\n            state = 0;\n            break;\n        case '{}':\n            state += {a};\n            seen++;\n            break;\n        case '\\n':\n            return seen * {c} + state;\n        default:\n            if (*from >= 'a' && *from <= 'z')\n                state = state * 31 + (*from - 'a') + {name}_marks[seen % {}];\n            else\n                state ^= {b};\n        }}\n        from++;\n    }}\n    return state;\n}}\n",
            words.word(),
            words.word(),
            words.word(),
            (b'a' + c as u8) as char,
            words.number(3, 9)
        ),
        3 => format!(
            "\n/* The {} element of the list that {} the key. */\nstruct {home} *{name}(struct {home} *list, int key)\n{{\n    struct {home} *best;\n    int distance;\n\n    best = 0;\n    for (; list != 0; list = list->next) {{\n        distance = list->key > key ? list->key - key : key - list->key;\n        if (best == 0 || distance < best->cells[0] % {a} + {c}) {{\n            best = list;\n            best->tag = (char) (distance & {own}_MASK);\n            best->cells[1] = {own}_SCALE(distance, key);\n        }}\n    }}\n    return best;\n}}\n",
            words.word(),
            words.word()
        ),
        4 => format!(
            "\nstatic int {name}_grid[{}][{}];\n\nint {name}(int rows, int columns)\n{{\n    int i, j, *cell, area;\n\n    area = 0;\n    for (i = 0; i < rows % {}; i++)\n        for (j = 0; j < columns % {}; j++) {{\n            cell = &{name}_grid[i][j];\n            *cell += (i * {a} - j * {c}) ^ (i << 2);\n            area += *cell / (j + 1) + {upper}_SCALE(i, j);\n        }}\n    return area > {b} || rows < 0 ? {b} : area;\n}}\n",
            words.number(4, 16),
            words.number(4, 16),
            words.number(4, 9),
            words.number(4, 9)
        ),
        5 => format!(
            "\nint {name}(struct {other} *one, int what)\n{{\n    int left = one->key, right = one->cells[{}];\n\n    if (what == {a} && !(left & {c}))\n        return {upper}_SCALE(left, right);\n    else if (what < {a} || right >= {b})\n        left = -right;\n    do {{\n        left += right % {a} ? right >> 1 : one->tag;\n        right -= {upper}_LIMIT + (left & 7);\n    }} while (right > 0 && left < {b});\n    one->next = left > {c} ? one : 0;\n    one->label[left & 7] = one->tag;\n    return left - right;\n}}\n",
            words.number(0, 3)
        ),
        _ => format!(
            "\nstatic char *{name}_table[] = {{ \"{}\", \"{}\", \"{}\", \"{}\" }};\n\n/* How far {} of the names agree with a word. */\nint {name}(char *word, int most)\n{{\n    int i, length;\n    char *p, *q;\n\n    length = 0;\n    for (i = 0; i < 4 && i < most; i++) {{\n        p = word;\n        q = {name}_table[i];\n        while (*p && *p == *q) {{\n            p++;\n            q++;\n        }}\n        if (p - word > length)\n            length = p - word;\n        else if (*q == 0)\n            length += {c};\n    }}\n    return length * {a} + sizeof(struct {home}) % {b};\n}}\n",
            words.word(),
            words.word(),
            words.word(),
            words.word(),
            words.word()
        ),
    }
}
