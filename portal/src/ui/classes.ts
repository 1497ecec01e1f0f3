// Class names put together: the ones that hold.

export function classes(...names: (string | false | undefined)[]): string {
  return names.filter(Boolean).join(" ");
}
