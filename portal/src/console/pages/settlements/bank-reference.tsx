// What is recorded of a transfer that the bank made: its reference, and when one records it.
import { TextField, needed } from "../../../ui/form.tsx";

const NAME = "bank_reference";

/** The form's values before anything is typed. */
export const noReference = { [NAME]: "" };

/** The body of the request that records the payout. */
export function paidBy({ [NAME]: typed = "" }: { [name: string]: string }): { bank_reference?: string } {
  return typed.trim() === "" ? {} : { [NAME]: typed.trim() };
}

const referenceNeeded = needed("The bank's reference");

export function BankReference({ environment }: { environment: string }) {
  const isSandbox = environment === "sandbox";
  return (
    <TextField
      name={NAME}
      label="The bank's reference"
      hint={isSandbox ? "Optional: the sandbox has no bank." : "Of the transfer, as shown on the bank's statement."}
      check={isSandbox ? undefined : referenceNeeded}
      autoComplete="off"
      mono
    />
  );
}

/** Told before a batch is recorded as paid, wherever that is done. */
export const whenPaid =
  "Record it when the money has left the account: money that the bank returns after that is not recorded here.";
