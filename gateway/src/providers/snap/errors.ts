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

interface Line {
  /** The standard's name of the case. */
  says: string;
  means: Exclude<Meaning, "unknown">;
}

/**
 * Keyed by status and case, for every service: the codes of the standard's table that decide something. All others are unknown, so a definite
 * refusal is never guessed. Left out on purpose: 404xx14 (paid), 404xx18 (inconsistent: the same reference with other fields) and all of 5xx,
 * which may be responses to a repetition of an order that was carried out.
 */
export const codeTable: Readonly<Record<string, Line>> = {
  "20000": { says: "Successful", means: "done" },
  "20200": { says: "Request In Progress", means: "in progress" },
  "40000": { says: "Bad Request", means: "refused" },
  "40001": { says: "Invalid Field Format", means: "refused" },
  "40002": { says: "Invalid Mandatory Field", means: "refused" },
  "40100": { says: "Unauthorized", means: "unavailable" },
  "40101": { says: "Invalid Token (B2B)", means: "token" },
  "40103": { says: "Token Not Found (B2B)", means: "token" },
  "40301": { says: "Feature Not Allowed", means: "refused" },
  "40302": { says: "Exceeds Transaction Amount Limit", means: "refused" },
  "40303": { says: "Suspected Fraud", means: "refused" },
  "40304": { says: "Activity Count Limit Exceeded", means: "unavailable" },
  "40305": { says: "Do Not Honor", means: "refused" },
  "40306": { says: "Feature Not Allowed At This Time", means: "unavailable" },
  "40314": { says: "Insufficient Funds", means: "refused" },
  "40315": { says: "Transaction Not Permitted", means: "refused" },
  "40316": { says: "Suspend Transaction", means: "unavailable" },
  "40318": { says: "Inactive Card/Account/Customer", means: "refused" },
  "40320": { says: "Merchant Limit Exceed", means: "unavailable" },
  "40401": { says: "Transaction Not Found", means: "not found" },
  "40402": { says: "Invalid Routing", means: "refused" },
  "40403": { says: "Bank Not Supported By Switch", means: "refused" },
  "40408": { says: "Invalid Merchant", means: "refused" },
  "40411": { says: "Invalid Card/Account/Customer/Virtual Account", means: "refused" },
  "40412": { says: "Invalid Bill/Virtual Account", means: "not found" },
  "40413": { says: "Invalid Amount", means: "refused" },
  "40416": { says: "Partner Not Found", means: "refused" },
  "40417": { says: "Invalid Terminal", means: "refused" },
  "40500": { says: "Requested Function Is Not Supported", means: "refused" },
  "40501": { says: "Requested Operation Is Not Allowed", means: "refused" },
  "40900": { says: "Conflict: the same X-EXTERNAL-ID on one day", means: "repeated" },
  "40901": { says: "Duplicate partnerReferenceNo", means: "repeated" },
  "42900": { says: "Too Many Requests", means: "unavailable" },
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

/**
 * Meaning of a code in the response of a service. A code of another service, of another length, or that is no text, is unknown. `others`: digits
 * that a provider uses instead of the standard's.
 */
export function meaningOf(code: unknown, service: Service, others: readonly string[] = []): Meaning {
  const parts = typeof code === "string" ? /^(\d{3})(\d\d)(\d\d)$/.exec(code) : null;
  if (!parts) return "unknown";
  const [, status = "", digits = "", which = ""] = parts;
  if (digits !== services[service] && !others.includes(digits)) return "unknown";
  const line = codeTable[status + which];
  return line === undefined ? "unknown" : line.means;
}

/** Builds a code: `codeOf(200, "inquiry", "00")` is "2002400". */
export function codeOf(status: number, service: Service, which: string): string {
  return `${status}${services[service]}${which}`;
}
