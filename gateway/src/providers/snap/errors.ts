// Meanings of SNAP's response codes. A code has seven digits: the HTTP status, two of the service, two of the case.

/**
 * `done`: the request succeeded. `in progress`: it was accepted and is not decided. `refused`: nothing was done, and never will be.
 * `unavailable`: nothing was done, and nothing can be done now. `token`: nothing was done, and a new token is needed. `repeated`: the same was
 * sent before. `not found`: there is nothing by this id. `unknown`: nobody can tell what was done.
 */
export type Meaning =
  | "done"
  | "in progress"
  | "refused"
  | "unavailable"
  | "token"
  | "repeated"
  | "not found"
  | "unknown";

/**
 * Keyed by status and case, for every service: the codes of the standard's table that decide something, beside the standard's names of the
 * cases. All others are unknown, so a definite refusal is never guessed. Left out on purpose: 404xx14 (paid), 404xx18 (inconsistent: the same
 * reference with other fields) and all of 5xx, which may be responses to a repetition of an order that was carried out.
 */
export const codeTable: Readonly<Record<string, Meaning>> = {
  "20000": "done", // Successful
  "20200": "in progress", // Request In Progress
  "40000": "refused", // Bad Request
  "40001": "refused", // Invalid Field Format
  "40002": "refused", // Invalid Mandatory Field
  "40100": "unavailable", // Unauthorized
  "40101": "token", // Invalid Token (B2B)
  "40103": "token", // Token Not Found (B2B)
  "40301": "refused", // Feature Not Allowed
  "40302": "refused", // Exceeds Transaction Amount Limit
  "40303": "refused", // Suspected Fraud
  "40304": "unavailable", // Activity Count Limit Exceeded
  "40305": "refused", // Do Not Honor
  "40306": "unavailable", // Feature Not Allowed At This Time
  "40314": "refused", // Insufficient Funds
  "40315": "refused", // Transaction Not Permitted
  "40316": "unavailable", // Suspend Transaction
  "40318": "refused", // Inactive Card/Account/Customer
  "40320": "unavailable", // Merchant Limit Exceed
  "40401": "not found", // Transaction Not Found
  "40402": "refused", // Invalid Routing
  "40403": "refused", // Bank Not Supported By Switch
  "40408": "refused", // Invalid Merchant
  "40411": "refused", // Invalid Card/Account/Customer/Virtual Account
  "40412": "not found", // Invalid Bill/Virtual Account
  "40413": "refused", // Invalid Amount
  "40416": "refused", // Partner Not Found
  "40417": "refused", // Invalid Terminal
  "40500": "refused", // Requested Function Is Not Supported
  "40501": "refused", // Requested Operation Is Not Allowed
  "40900": "repeated", // Conflict: the same X-EXTERNAL-ID on one day
  "40901": "repeated", // Duplicate partnerReferenceNo
  "42900": "unavailable", // Too Many Requests
};

/** Services that Gerbang calls or that call Gerbang, by the two digits in the middle of a code. */
export const services = {
  inquiry: "24",
  payment: "25",
  vaStatus: "26",
  createVa: "27",
  deleteVa: "31",
  notifyVa: "34",
  qrGenerate: "47",
  qrQuery: "51",
  qrNotify: "52",
  debitPay: "54",
  debitStatus: "55",
  debitNotify: "56",
  debitRefund: "58",
  token: "73",
  qrRefund: "78",
} as const;
export type Service = keyof typeof services;

const orders: ReadonlySet<Service> = new Set(["createVa", "qrGenerate", "debitPay", "debitRefund", "qrRefund"]);

/** Whether a request of this service has an effect that must happen once. Other requests inquire, or may happen twice, as a deletion may. */
export function isOrder(service: Service): boolean {
  return orders.has(service);
}

/** Meaning of a code in a service's response; of another service or length, or no text, it is unknown. `others`: digits used for the standard's. */
export function meaningOf(code: unknown, service: Service, others: readonly string[] = []): Meaning {
  const parts = typeof code === "string" ? /^(\d{3})(\d\d)(\d\d)$/.exec(code) : null;
  if (!parts) return "unknown";
  const [, status = "", digits = "", which = ""] = parts;
  if (digits !== services[service] && !others.includes(digits)) return "unknown";
  return codeTable[status + which] ?? "unknown";
}

/** Builds a code: `codeOf(200, "inquiry", "00")` is "2002400". */
export function codeOf(status: number, service: Service, which: string): string {
  return `${status}${services[service]}${which}`;
}
