// Sentences for people, on standard error: standard output is for data.

export const say = (text: string): void => void process.stderr.write(`${text}\n`);
