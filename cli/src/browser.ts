// Opens an address in the person's browser. The address is one argument of a program, and never passes through a shell.
import { spawn } from "node:child_process";

const openers: Partial<Record<NodeJS.Platform, readonly [program: string, ...before: string[]]>> = {
  darwin: ["open"],
  win32: ["rundll32", "url.dll,FileProtocolHandler"],
};

/** Does nothing when there is no browser: the callers print the address as well. */
export function openInBrowser(address: string): void {
  const [program, ...before] = openers[process.platform] ?? ["xdg-open"];
  const child = spawn(program, [...before, address], { stdio: "ignore", detached: true });
  child.on("error", () => undefined); // no such program: people open the printed address themselves
  child.unref();
}
