// What an acquirer and we said, made easy to read: what was asked and what was answered apart, and JSON in lines.

interface Part {
  title: "Asked" | "Answered" | "Message";
  text: string;
}

/** The parts of text as they are kept: what was asked after `> `, what was answered after `< `. */
export function partsOf(text: string): Part[] {
  if (text.startsWith("< ")) return [{ title: "Answered", text: inLines(text.slice(2)) }];
  if (!text.startsWith("> ")) return [{ title: "Message", text: inLines(text) }];
  const end = text.indexOf("\n< ");
  // Long text are cut, maybe before the answer.
  if (end < 0) return [{ title: "Asked", text: inLines(text.slice(2)) }];
  return [
    { title: "Asked", text: inLines(text.slice(2, end)) },
    { title: "Answered", text: inLines(text.slice(end + 3)) },
  ];
}

/** JSON with a line for each field, and anything else as it is. Numbers stay as they were written: reading them would round long ones. */
export function inLines(text: string): string {
  if (!isJson(text)) return text;
  let depth = 0;
  const line = (): string => `\n${"  ".repeat(depth)}`;
  return text.replaceAll(/"(?:[^"\\]|\\.)*"|\{\s*\}|\[\s*\]|[{}[\],:]|\s+/g, (token) => {
    if (token.startsWith('"')) return token;
    if (/^\s/.test(token)) return "";
    if (token === ":") return ": ";
    if (token === ",") return `,${line()}`;
    if (token.length > 1) return token.replaceAll(/\s/g, "");
    if (token === "{" || token === "[") {
      depth++;
      return token + line();
    }
    depth--;
    return line() + token;
  });
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
