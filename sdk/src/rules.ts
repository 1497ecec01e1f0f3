// Rules of bodies, made from the contract by `npm run sdk:types`. Not edited by hand.

export interface Rule {
  /** A text where it is absent. */
  type?: "object" | "array" | "integer" | "boolean";
  options?: readonly string[];
  /** Of a number its value; of a text or a list its length; of an object its properties. */
  least?: number;
  most?: number;
  pattern?: string;
  problem?: string;
  items?: Rule;
  fields?: Record<string, Rule>;
  required?: readonly string[];
  /** Properties that have no name of their own. */
  others?: { names: Rule; values: Rule };
}

export const rules = {
  "AdvanceClock": {
    "type": "object",
    "fields": {
      "seconds": {
        "type": "integer",
        "least": 1,
        "most": 31622400
      }
    },
    "required": [
      "seconds"
    ]
  },
  "CancelPayment": {
    "type": "object",
    "fields": {
      "reason": {
        "most": 255,
        "pattern": "^[^\\u0000]*$",
        "problem": "must be Unicode text without NUL"
      }
    }
  },
  "CreatePayment": {
    "type": "object",
    "fields": {
      "amount_minor": {
        "type": "integer",
        "least": 1,
        "most": 9007199254740991
      },
      "currency": {
        "pattern": "^[A-Z]{3}$",
        "problem": "must be a code of ISO 4217"
      },
      "payment_method": {
        "options": [
          "qris",
          "va",
          "card",
          "ewallet",
          "bank_transfer"
        ]
      },
      "reference_id": {
        "least": 1,
        "most": 64,
        "pattern": "^[^\\u0000]*$",
        "problem": "must be Unicode text without NUL"
      },
      "description": {
        "most": 255,
        "pattern": "^[^\\u0000]*$",
        "problem": "must be Unicode text without NUL"
      },
      "expires_in": {
        "type": "integer",
        "least": 60,
        "most": 86400
      },
      "customer": {
        "type": "object",
        "fields": {
          "name": {
            "least": 1,
            "most": 120,
            "pattern": "^[^\\u0000]*$",
            "problem": "must be Unicode text without NUL"
          },
          "email": {
            "least": 3,
            "most": 254,
            "pattern": "^[^@\\u0000]*@[^@\\u0000]*$",
            "problem": "must have exactly one @"
          },
          "phone": {
            "pattern": "^\\+\\d{8,15}$",
            "problem": "must be + and 8 to 15 digits"
          }
        }
      },
      "callback_url": {
        "most": 2048,
        "pattern": "^[hH][tT][tT][pP][sS]://[^\\s\\\\\\u0000-\\u001f\\u007f]+$",
        "problem": "The address must begin with https:// and have no spaces."
      },
      "return_url": {
        "most": 2048,
        "pattern": "^https://[!$-.0-;=A-\\[\\]_a-z~]+([/?#][!#-;=?-\\[\\]_a-z~]*)?$",
        "problem": "must be an https address"
      },
      "metadata": {
        "type": "object",
        "fields": {},
        "most": 20,
        "others": {
          "names": {
            "least": 1,
            "most": 40,
            "pattern": "^[^\\u0000]*$",
            "problem": "must be Unicode text without NUL"
          },
          "values": {
            "most": 500,
            "pattern": "^[^\\u0000]*$",
            "problem": "must be Unicode text without NUL"
          }
        }
      }
    },
    "required": [
      "amount_minor",
      "currency",
      "payment_method",
      "reference_id"
    ]
  },
  "CreatePaymentLink": {
    "type": "object",
    "fields": {
      "amount_minor": {
        "type": "integer",
        "least": 1,
        "most": 9007199254740991
      },
      "minimum_minor": {
        "type": "integer",
        "least": 1,
        "most": 9007199254740991
      },
      "maximum_minor": {
        "type": "integer",
        "least": 1,
        "most": 9007199254740991
      },
      "currency": {
        "pattern": "^[A-Z]{3}$",
        "problem": "must be a code of ISO 4217"
      },
      "description": {
        "most": 255,
        "pattern": "^[^\\u0000]*$",
        "problem": "must be Unicode text without NUL"
      },
      "reusable": {
        "type": "boolean"
      },
      "expires_in": {
        "type": "integer",
        "least": 60,
        "most": 31536000
      },
      "payment_expires_in": {
        "type": "integer",
        "least": 60,
        "most": 86400
      },
      "payment_methods": {
        "type": "array",
        "least": 1,
        "most": 5,
        "items": {
          "options": [
            "qris",
            "va",
            "card",
            "ewallet",
            "bank_transfer"
          ]
        }
      },
      "customer_required": {
        "type": "boolean"
      },
      "return_url": {
        "most": 2048,
        "pattern": "^https://[!$-.0-;=A-\\[\\]_a-z~]+([/?#][!#-;=?-\\[\\]_a-z~]*)?$",
        "problem": "must be an https address"
      },
      "metadata": {
        "type": "object",
        "fields": {},
        "most": 20,
        "others": {
          "names": {
            "least": 1,
            "most": 40,
            "pattern": "^[^\\u0000]*$",
            "problem": "must be Unicode text without NUL"
          },
          "values": {
            "most": 500,
            "pattern": "^[^\\u0000]*$",
            "problem": "must be Unicode text without NUL"
          }
        }
      }
    },
    "required": [
      "currency",
      "reusable"
    ]
  },
  "CreateRefund": {
    "type": "object",
    "fields": {
      "payment_reference": {},
      "amount_minor": {
        "type": "integer",
        "least": 1,
        "most": 9007199254740991
      },
      "reason": {
        "most": 255,
        "pattern": "^[^\\u0000]*$",
        "problem": "must be Unicode text without NUL"
      },
      "currency": {
        "pattern": "^[A-Z]{3}$",
        "problem": "must be a code of ISO 4217"
      }
    },
    "required": [
      "payment_reference"
    ]
  },
  "DiagnoseDelivery": {
    "type": "object",
    "fields": {
      "headers": {
        "type": "object",
        "fields": {},
        "most": 60,
        "others": {
          "names": {
            "least": 1,
            "most": 100,
            "pattern": "^[^\\u0000]*$",
            "problem": "must be Unicode text without NUL"
          },
          "values": {
            "most": 2000,
            "pattern": "^[^\\u0000]*$",
            "problem": "must be Unicode text without NUL"
          }
        }
      },
      "body": {
        "most": 131072,
        "pattern": "^[^\\u0000]*$",
        "problem": "must be Unicode text without NUL"
      },
      "received_at": {
        "type": "integer",
        "least": 0,
        "most": 99999999999
      },
      "computed_signature": {
        "least": 1,
        "most": 200,
        "pattern": "^[^\\u0000]*$",
        "problem": "must be Unicode text without NUL"
      }
    },
    "required": [
      "headers",
      "body"
    ]
  },
  "Nothing": {
    "type": "object",
    "fields": {}
  },
  "OpenDispute": {
    "type": "object",
    "fields": {
      "reason": {
        "options": [
          "product_not_received",
          "product_unacceptable",
          "fraudulent",
          "duplicate",
          "credit_not_processed",
          "general"
        ]
      },
      "amount_minor": {
        "type": "integer",
        "least": 1,
        "most": 9007199254740991
      }
    },
    "required": [
      "reason"
    ]
  },
  "ResendEvents": {
    "type": "object",
    "fields": {
      "event_ids": {
        "type": "array",
        "least": 1,
        "most": 100,
        "items": {}
      },
      "since": {
        "pattern": "^(19[7-9]\\d|2[01]\\d\\d)-(0[1-9]|1[0-2])-(0[1-9]|[12]\\d|3[01])(T([01]\\d|2[0-3]):[0-5]\\d:[0-5]\\dZ)?$",
        "problem": "must be a date or a time in UTC, such as 2026-11-01 or 2026-11-01T00:00:00Z"
      },
      "state": {
        "options": [
          "undelivered",
          "delivered",
          "all"
        ]
      },
      "starting_after": {}
    }
  },
  "ResolveDispute": {
    "type": "object",
    "fields": {
      "outcome": {
        "options": [
          "won",
          "lost",
          "withdrawn"
        ]
      }
    },
    "required": [
      "outcome"
    ]
  },
  "SimulatePayment": {
    "type": "object",
    "fields": {
      "outcome": {
        "options": [
          "processing",
          "succeeded",
          "failed"
        ]
      }
    },
    "required": [
      "outcome"
    ]
  },
  "SimulateRefund": {
    "type": "object",
    "fields": {
      "outcome": {
        "options": [
          "succeeded",
          "failed"
        ]
      }
    },
    "required": [
      "outcome"
    ]
  },
  "SwitchFaultInjection": {
    "type": "object",
    "fields": {
      "mode": {
        "options": [
          "none",
          "duplicate",
          "reorder",
          "delay",
          "drop",
          "stale_timestamp",
          "wrong_signature",
          "unknown_type",
          "byte_order",
          "slow_body"
        ]
      },
      "for_next": {
        "type": "integer",
        "least": 1,
        "most": 1000
      }
    },
    "required": [
      "mode"
    ]
  },
  "TriggerEvent": {
    "type": "object",
    "fields": {
      "type": {
        "options": [
          "payment.created",
          "payment.processing",
          "payment.succeeded",
          "payment.failed",
          "payment.expired",
          "payment.canceled",
          "refund.succeeded",
          "refund.failed",
          "settlement.created",
          "settlement.paid",
          "dispute.opened",
          "dispute.updated",
          "dispute.resolved"
        ]
      }
    },
    "required": [
      "type"
    ]
  }
} as const;

export type BodyName = keyof typeof rules;
