// Opens an address in the person's browser. It goes to a program as one argument, never through a shell.
import { spawn } from "node:child_process";

const openers: Partial<Record<NodeJS.Platform, readonly [program: string, ...before: string[]]>> = {
  darwin: ["open"],
  win32: ["rundll32", "url.dll,FileProtocolHandler"],
};

/** Where there is no browser nothing happens: the address is printed as well. */
export function openInBrowser(address: string): void {
  const [program, ...before] = openers[process.platform] ?? ["xdg-open"];
  const child = spawn(program, [...before, address], { stdio: "ignore", detached: true });
  child.on("error", () => undefined); // no such program: whoever reads the address opens it
  child.unref();
}
