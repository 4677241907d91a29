// As much JSON as a driver needs: objects are maps, arrays lists, whole numbers Longs, the rest as one expects.
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

final class Json {
    private static final int DEEPEST = 64; // of objects and arrays in each other: a hostile line must not overflow the stack
    private final String text;
    private int at = 0;

    private Json(String text) {
        this.text = text;
    }

    static Object parse(String text) {
        Json json = new Json(text);
        Object value = json.value(0);
        json.blank();
        if (json.at < text.length()) throw json.wrong();
        return value;
    }

    static String write(Object value) {
        StringBuilder out = new StringBuilder();
        write(out, value);
        return out.toString();
    }

    private static void write(StringBuilder out, Object value) {
        if (value instanceof String) {
            write(out, (String) value);
        } else if (value instanceof Map) {
            String before = "";
            out.append('{');
            for (Map.Entry<?, ?> member : ((Map<?, ?>) value).entrySet()) {
                out.append(before);
                write(out, (String) member.getKey());
                out.append(':');
                write(out, member.getValue());
                before = ",";
            }
            out.append('}');
        } else if (value instanceof List) {
            String before = "";
            out.append('[');
            for (Object item : (List<?>) value) {
                out.append(before);
                write(out, item);
                before = ",";
            }
            out.append(']');
        } else {
            out.append(value); // a number, a boolean or null
        }
    }

    // ASCII only: half of a surrogate pair, which is no UTF-8, goes through as well as any other character.
    private static void write(StringBuilder out, String value) {
        out.append('"');
        for (char c : value.toCharArray()) {
            if (c >= ' ' && c < 127 && c != '"' && c != '\\') out.append(c);
            else out.append(String.format("\\u%04x", (int) c));
        }
        out.append('"');
    }

    private Object value(int depth) {
        if (depth > DEEPEST) throw wrong();
        switch (next()) {
            case '{':
                Map<String, Object> members = new HashMap<>();
                for (at++; next() != '}'; comma('}')) {
                    String name = string();
                    expect(':');
                    members.put(name, value(depth + 1));
                }
                at++;
                return members;
            case '[':
                List<Object> items = new ArrayList<>();
                for (at++; next() != ']'; comma(']')) items.add(value(depth + 1));
                at++;
                return items;
            case '"': return string();
            case 't': return word("true", true);
            case 'f': return word("false", false);
            case 'n': return word("null", null);
            default: return number();
        }
    }

    private Object number() {
        int start = at;
        while (at < text.length() && "+-.eE0123456789".indexOf(text.charAt(at)) >= 0) at++;
        String digits = text.substring(start, at);
        try {
            return Long.valueOf(digits);
        } catch (NumberFormatException notWhole) {
            return Double.valueOf(digits);
        }
    }

    private Object word(String word, Object value) {
        if (!text.startsWith(word, at)) throw wrong();
        at += word.length();
        return value;
    }

    private String string() {
        expect('"');
        StringBuilder value = new StringBuilder();
        while (true) {
            char c = take();
            if (c == '"') return value.toString();
            if (c == '\\') {
                c = take();
                int plain = "bfnrt".indexOf(c);
                if (plain >= 0) c = "\b\f\n\r\t".charAt(plain);
                else if (c == 'u') c = hexadecimal();
            }
            value.append(c);
        }
    }

    private char hexadecimal() {
        int code = 0;
        for (int digit = 0; digit < 4; digit++) {
            int value = Character.digit(take(), 16);
            if (value < 0) throw wrong();
            code = code * 16 + value;
        }
        return (char) code;
    }

    private char take() {
        if (at >= text.length()) throw wrong();
        return text.charAt(at++);
    }

    private void blank() {
        while (at < text.length() && " \t\r".indexOf(text.charAt(at)) >= 0) at++;
    }

    private char next() {
        blank();
        if (at >= text.length()) throw wrong();
        return text.charAt(at);
    }

    private void expect(char wanted) {
        if (next() != wanted) throw wrong();
        at++;
    }

    private void comma(char end) {
        if (next() == end) return;
        expect(',');
        if (next() == end) throw wrong();
    }

    private IllegalArgumentException wrong() {
        return new IllegalArgumentException("not JSON at character " + at);
    }
}
