// The type of the driver's function that turns a value into what the wire carries. Classes that send their own messages use it, such as pg-cursor.
declare module "pg/lib/utils.js" {
  export function prepareValue(value: unknown): unknown;
}
