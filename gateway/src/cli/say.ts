// Sentences for people, on standard error, and data, on standard output.

export const say = (text: string): void => void process.stderr.write(`${text}\n`);

export const printJson = (value: unknown): void => void process.stdout.write(`${JSON.stringify(value)}\n`);
