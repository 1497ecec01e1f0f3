// Explains in plain words why a connection did not work.

const CERTIFICATE =
  "nobody this machine knows has signed its certificate: forward to its http:// address, or name the certificate in NODE_EXTRA_CA_CERTS";

const known: Record<string, string> = {
  ECONNREFUSED: "nothing accepts connections there",
  ECONNRESET: "the connection was reset",
  ENOTFOUND: "the host name does not exist",
  EAI_AGAIN: "the host name could not be looked up",
  EHOSTUNREACH: "the host cannot be reached",
  ENETUNREACH: "the network cannot be reached",
  ERR_SSL_WRONG_VERSION_NUMBER: "it does not speak TLS: should its address begin with http://?",
  DEPTH_ZERO_SELF_SIGNED_CERT: CERTIFICATE,
  SELF_SIGNED_CERT_IN_CHAIN: CERTIFICATE,
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: CERTIFICATE,
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: CERTIFICATE,
  ERR_TLS_CERT_ALTNAME_INVALID: "its certificate is for another host name",
  CERT_HAS_EXPIRED: "its certificate has expired",
  EPIPE: "the connection was closed",
  UND_ERR_SOCKET: "the connection was closed before an answer came",
  UND_ERR_CONNECT_TIMEOUT: "no connection in time",
  UND_ERR_HEADERS_TIMEOUT: "no answer in time",
  UND_ERR_BODY_TIMEOUT: "the answer was cut off",
};

interface Failed {
  code?: unknown;
  name?: unknown;
  errors?: unknown[];
  cause?: unknown;
}

export function reasonOf(error: unknown): string {
  const { code, name, errors, cause } = (error ?? {}) as Failed;
  if (name === "TimeoutError") return "no answer in time";
  if (typeof code === "string" && known[code] !== undefined) return known[code];
  // A host name with several addresses has one error for each.
  if (Array.isArray(errors) && errors.length > 0) return reasonOf(errors[0]);
  if (cause !== undefined) return reasonOf(cause);
  if (typeof code === "string") return `the connection failed (${code})`;
  return error instanceof Error ? error.message : String(error);
}
