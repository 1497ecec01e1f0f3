// The version of this client, as it names itself to the service. A test holds it to package.json.
export const version = "0.1.0";
