// What the service says of a field, as it stands below that field: the label is above it, so the API's name of the field is left out.

/** `told` is the field that the service names, `field` the one that shows it: a fault of `holidays.1` is shown at `holidays`. */
export function atField(message: string, told: string, field: string): string {
  const named = `${told}: `;
  if (!message.startsWith(named)) return message;
  const place = told.slice(field.length + 1);
  const fault = message.slice(named.length);
  if (place === "") return sentence(fault);
  return /^\d+$/.test(place) ? sentence(`entry ${Number(place) + 1} ${fault}`) : message;
}

function sentence(text: string): string {
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}${/[.?!]$/.test(text) ? "" : "."}`;
}
