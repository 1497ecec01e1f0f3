// The command line: `gerbang <command>`. Data goes to standard output, words to standard error; exit 0 means clean.
import { runCommandLine } from "./cli/run.ts";
import { stopWithParent } from "./ground/parent.ts";

stopWithParent();
process.exitCode = await runCommandLine(process.argv.slice(2));
