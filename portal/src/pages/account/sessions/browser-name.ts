// What a browser calls itself, in two words: for telling one's own devices apart, and for nothing else.

const browsers = { "Edg/": "Edge", "OPR/": "Opera", "Firefox/": "Firefox", "Chrome/": "Chrome", "Safari/": "Safari" };
const systems = {
  iPhone: "iPhone",
  iPad: "iPad",
  Android: "Android",
  "Mac OS X": "macOS",
  Windows: "Windows",
  Linux: "Linux",
};

/** "Chrome on Windows"; what is not known is shown as it was sent, bounded. */
export function browserName(userAgent: string): string {
  const found = (names: Record<string, string>): string | undefined =>
    Object.entries(names).find(([mark]) => userAgent.includes(mark))?.[1];
  const [browser, system] = [found(browsers), found(systems)];
  if (browser && system) return `${browser} on ${system}`;
  return browser ?? system ?? (userAgent.slice(0, 40) || "Unknown");
}
