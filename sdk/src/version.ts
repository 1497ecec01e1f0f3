// The version that this client reports to the service. A test compares it with package.json.
export const version = "0.1.0";
