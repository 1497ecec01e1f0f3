// Lines of comma-separated values (RFC 4180), for programs and for spreadsheets.

/** A line with its end. Texts with a separator are quoted; none is changed, also where a spreadsheet sees a formula: programs compare them. */
export function csvLine(fields: readonly string[]): string {
  const quoted = fields.map((text) => (/[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text));
  return `${quoted.join(",")}\r\n`;
}

/** A text that somebody else chose, for people who open the file in a spreadsheet, which must not take it for a formula. Some split at semicolons. */
export function notFormula(text: string): string {
  return text.replaceAll(/(^|;)(?=[=+\-@\t\r\n])/g, "$1'");
}
