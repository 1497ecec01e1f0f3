// Why a change would be refused, in words for operators.

/** The service's words are for merchants, too: they send whoever reads them to the operator. */
export function refusalOf({ code, message }: { code: string; message: string }): string {
  return code === "WALLET_FROZEN"
    ? "The wallet is frozen: open it first, on the merchant's page, under Settings."
    : message;
}
