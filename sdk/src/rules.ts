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
        "pattern": "^[^\\u0000]*$"
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
        "pattern": "^[A-Z]{3}$"
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
        "pattern": "^[^\\u0000]*$"
      },
      "description": {
        "most": 255,
        "pattern": "^[^\\u0000]*$"
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
            "pattern": "^[^\\u0000]*$"
          },
          "email": {
            "least": 3,
            "most": 254,
            "pattern": "^[^@\\u0000]*@[^@\\u0000]*$"
          },
          "phone": {
            "pattern": "^\\+\\d{8,15}$"
          }
        }
      },
      "callback_url": {
        "most": 2048,
        "pattern": "^[hH][tT][tT][pP][sS]://[^\\s\\\\\\u0000-\\u001f\\u007f]+$"
      },
      "return_url": {
        "most": 2048,
        "pattern": "^https://[!$-.0-;=A-\\[\\]_a-z~]+([/?#][!#-;=?-\\[\\]_a-z~]*)?$"
      },
      "metadata": {
        "type": "object",
        "fields": {},
        "most": 20,
        "others": {
          "names": {
            "least": 1,
            "most": 40,
            "pattern": "^[^\\u0000]*$"
          },
          "values": {
            "most": 500,
            "pattern": "^[^\\u0000]*$"
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
        "pattern": "^[A-Z]{3}$"
      },
      "description": {
        "most": 255,
        "pattern": "^[^\\u0000]*$"
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
        "pattern": "^https://[!$-.0-;=A-\\[\\]_a-z~]+([/?#][!#-;=?-\\[\\]_a-z~]*)?$"
      },
      "metadata": {
        "type": "object",
        "fields": {},
        "most": 20,
        "others": {
          "names": {
            "least": 1,
            "most": 40,
            "pattern": "^[^\\u0000]*$"
          },
          "values": {
            "most": 500,
            "pattern": "^[^\\u0000]*$"
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
      "payment_reference": {
        "pattern": "^pay_[0-7][0-9a-hjkmnp-tv-z]{25}$"
      },
      "amount_minor": {
        "type": "integer",
        "least": 1,
        "most": 9007199254740991
      },
      "reason": {
        "most": 255,
        "pattern": "^[^\\u0000]*$"
      },
      "currency": {
        "pattern": "^[A-Z]{3}$"
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
            "pattern": "^[^\\u0000]*$"
          },
          "values": {
            "most": 2000,
            "pattern": "^[^\\u0000]*$"
          }
        }
      },
      "body": {
        "most": 131072,
        "pattern": "^[^\\u0000]*$"
      },
      "received_at": {
        "type": "integer",
        "least": 0,
        "most": 99999999999
      },
      "computed_signature": {
        "least": 1,
        "most": 200,
        "pattern": "^[^\\u0000]*$"
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
        "items": {
          "pattern": "^evt_[0-7][0-9a-hjkmnp-tv-z]{25}$"
        }
      },
      "since": {
        "pattern": "^(19[7-9]\\d|2[01]\\d\\d)-(0[1-9]|1[0-2])-(0[1-9]|[12]\\d|3[01])(T([01]\\d|2[0-3]):[0-5]\\d:[0-5]\\dZ)?$"
      },
      "state": {
        "options": [
          "undelivered",
          "delivered",
          "all"
        ]
      },
      "starting_after": {
        "pattern": "^evt_[0-7][0-9a-hjkmnp-tv-z]{25}$"
      }
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
