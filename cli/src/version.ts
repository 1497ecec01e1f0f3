// The version of the command line; a test holds it against package.json.
export const version = "0.1.0";
