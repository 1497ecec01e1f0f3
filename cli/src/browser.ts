// Opens an address in the person's browser. The address is one argument of a program, and never passes through a shell.
import { spawn } from "node:child_process";

const openers: Partial<Record<NodeJS.Platform, readonly [program: string, ...before: string[]]>> = {
  darwin: ["open"],
  win32: ["rundll32", "url.dll,FileProtocolHandler"],
};

/** False when this machine has no program that opens a browser: the callers print the address as well. */
export function openInBrowser(address: string): Promise<boolean> {
  const [program, ...before] = openers[process.platform] ?? ["xdg-open"];
  const child = spawn(program, [...before, address], { stdio: "ignore", detached: true });
  return new Promise((resolve) => {
    child.once("error", () => resolve(false));
    child.once("spawn", () => {
      child.unref();
      resolve(true);
    });
  });
}
