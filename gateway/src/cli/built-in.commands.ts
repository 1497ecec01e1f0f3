// The rows of the table of commands that are about the table itself: help, version, completion.
import { type Command, defineCommand } from "./command.ts";
import { commandPage } from "./command-page.ts";
import { type Shell, completion, shells } from "./completion.ts";
import { helpOf } from "./help.ts";

/** The version of `gerbang`, and the version of the Node that runs it. */
export function versionLine(version: string): string {
  return `gerbang ${version} (Node ${process.versions.node})\n`;
}

/** The commands themselves. `table` returns all commands, these included. */
export function builtInCommands(table: () => readonly Command[], version: string): Command[] {
  const print = (text: string): Promise<number> => {
    process.stdout.write(text);
    return Promise.resolve(0);
  };
  return [
    defineCommand({
      name: "help",
      summary: "Explain a command, or list them all",
      operand: { name: "command", many: true },
      options: { markdown: { summary: "print the whole of docs/guides/command-line.md" } },
      examples: [
        ["gerbang help people invite", "the same as gerbang people invite --help"],
        ["gerbang help", "every command"],
      ],
      run: ({ markdown }, words) => print(markdown ? commandPage(table()) : helpOf(table(), words)),
    }),
    defineCommand({
      name: "version",
      summary: "Print the version",
      examples: [["gerbang version", "the same as gerbang --version"]],
      run: () => print(versionLine(version)),
    }),
    defineCommand({
      name: "completion",
      summary: "Print a script that completes commands and options in a shell",
      operand: { name: "shell", choices: shells, required: true },
      examples: [
        ['eval "$(gerbang completion bash)"', "in ~/.bashrc"],
        ['eval "$(gerbang completion zsh)"', "in ~/.zshrc, after compinit"],
        ["gerbang completion fish > ~/.config/fish/completions/gerbang.fish", "once"],
      ],
      run: (_values, [name]) => print(completion(name as Shell, table())), // one of the choices: `parse` takes no other
    }),
  ];
}
