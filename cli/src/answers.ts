// The service's last answer, where its address is from, and the error for an answer in another form than this version knows.

/** Says what the form is, or what is missing. */
export class UnexpectedAnswer extends Error {
  override name = "UnexpectedAnswer";
}

/** The last answer of the service to this command. */
interface LastAnswer {
  requestId: string | undefined;
}

let last: LastAnswer | undefined;

export const lastAnswer = (): LastAnswer | undefined => last;

export function remember(answer: LastAnswer | undefined): void {
  last = answer;
}

let addressFile: string | undefined;

/** The demo merchant's file, where the address of the service is from there. */
export const lastAddressFile = (): string | undefined => addressFile;

export function rememberAddressFile(file: string | undefined): void {
  addressFile = file;
}
