// A merchant's id as the value of an option.
import type { Form } from "./command.ts";

export const merchantForm: Form = {
  pattern: /^mer_[0-9a-hjkmnp-tv-z]{26}$/,
  says: "is not a merchant's id: mer_ and 26 letters and digits",
};
