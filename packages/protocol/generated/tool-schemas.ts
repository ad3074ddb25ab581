// Generated from protocol/src/tools.ts by npm run generate.
export const toolSchemas = {
  "exec_command": {
    "type": "object",
    "properties": {
      "cmd": {
        "type": "string",
        "description": "Shell command to run."
      },
      "workdir": {
        "description": "Working directory; the workspace root unless given.",
        "type": "string"
      },
      "tty": {
        "description": "Run on a terminal. Only for programs that need one.",
        "type": "boolean"
      },
      "yield_time_ms": {
        "description": "Return after this long even if still running (250 to 30000; 10000).",
        "type": "number"
      },
      "max_output_tokens": {
        "description": "Cut the output in the middle beyond this (10000).",
        "type": "number"
      },
      "shell": {
        "description": "Shell to use instead of the user's.",
        "type": "string"
      },
      "login": {
        "description": "Use the login environment (true).",
        "type": "boolean"
      },
      "sandbox_permissions": {
        "description": "require_escalated asks to run outside the sandbox.",
        "type": "string",
        "enum": [
          "use_default",
          "require_escalated"
        ]
      },
      "justification": {
        "description": "Why escalation is needed, one sentence.",
        "type": "string"
      },
      "prefix_rule": {
        "description": "Command prefix to allow from now on.",
        "type": "array",
        "items": {
          "type": "string"
        }
      }
    },
    "required": [
      "cmd"
    ],
    "additionalProperties": false
  },
  "write_stdin": {
    "type": "object",
    "properties": {
      "session_id": {
        "type": "number",
        "description": "The session of a command that is still running."
      },
      "chars": {
        "description": "What to write; empty only polls. \\u0003 interrupts.",
        "type": "string"
      },
      "yield_time_ms": {
        "description": "How long to wait for output.",
        "type": "number"
      },
      "max_output_tokens": {
        "type": "number"
      }
    },
    "required": [
      "session_id"
    ],
    "additionalProperties": false
  },
  "list_sessions": {
    "type": "object",
    "properties": {},
    "additionalProperties": false
  },
  "kill_session": {
    "type": "object",
    "properties": {
      "session_id": {
        "type": "number",
        "description": "The session of a command that is still running."
      }
    },
    "required": [
      "session_id"
    ],
    "additionalProperties": false
  },
  "apply_patch": {
    "type": "object",
    "properties": {
      "input": {
        "type": "string",
        "description": "The whole patch, from *** Begin Patch to *** End Patch."
      }
    },
    "required": [
      "input"
    ],
    "additionalProperties": false
  },
  "edit_file": {
    "type": "object",
    "properties": {
      "path": {
        "type": "string"
      },
      "old_string": {
        "type": "string",
        "description": "Text to replace, exactly as in the file. Empty to create a new file."
      },
      "new_string": {
        "type": "string"
      },
      "replace_all": {
        "description": "Replace every occurrence; otherwise there must be exactly one.",
        "type": "boolean"
      },
      "expected_count": {
        "description": "Replace all if there are exactly this many.",
        "type": "number"
      }
    },
    "required": [
      "path",
      "old_string",
      "new_string"
    ],
    "additionalProperties": false
  },
  "edit_notebook": {
    "type": "object",
    "properties": {
      "path": {
        "type": "string",
        "description": "A Jupyter notebook (.ipynb)."
      },
      "action": {
        "type": "string",
        "enum": [
          "replace",
          "insert",
          "delete"
        ]
      },
      "cell": {
        "description": "Index from 0, or id. A new cell gets this index, comes after this id, or at the end.",
        "type": [
          "number",
          "string"
        ]
      },
      "source": {
        "description": "New source of the cell.",
        "type": "string"
      },
      "cell_type": {
        "type": "string",
        "enum": [
          "code",
          "markdown",
          "raw"
        ]
      }
    },
    "required": [
      "path",
      "action"
    ],
    "additionalProperties": false
  },
  "update_plan": {
    "type": "object",
    "properties": {
      "explanation": {
        "type": "string"
      },
      "plan": {
        "type": "array",
        "items": {
          "type": "object",
          "properties": {
            "step": {
              "type": "string"
            },
            "status": {
              "type": "string",
              "enum": [
                "pending",
                "in_progress",
                "completed"
              ]
            }
          },
          "required": [
            "step",
            "status"
          ],
          "additionalProperties": false
        }
      }
    },
    "required": [
      "plan"
    ],
    "additionalProperties": false
  },
  "request_user_input": {
    "type": "object",
    "properties": {
      "questions": {
        "type": "array",
        "items": {
          "type": "object",
          "properties": {
            "id": {
              "type": "string",
              "description": "A name for the question, in snake case."
            },
            "header": {
              "type": "string",
              "description": "A few words above it."
            },
            "question": {
              "type": "string",
              "description": "One sentence."
            },
            "options": {
              "type": "array",
              "items": {
                "type": "object",
                "properties": {
                  "label": {
                    "type": "string"
                  },
                  "description": {
                    "type": "string"
                  }
                },
                "required": [
                  "label",
                  "description"
                ],
                "additionalProperties": false
              },
              "description": "Two or three answers to choose from; the user may give another."
            }
          },
          "required": [
            "id",
            "header",
            "question",
            "options"
          ],
          "additionalProperties": false
        }
      }
    },
    "required": [
      "questions"
    ],
    "additionalProperties": false
  },
  "view_image": {
    "type": "object",
    "properties": {
      "path": {
        "type": "string",
        "description": "Image file in the workspace."
      },
      "detail": {
        "type": "string",
        "enum": [
          "high",
          "original"
        ]
      }
    },
    "required": [
      "path"
    ],
    "additionalProperties": false
  },
  "read_file": {
    "type": "object",
    "properties": {
      "path": {
        "type": "string"
      },
      "offset": {
        "description": "First line, from 1.",
        "type": "number"
      },
      "limit": {
        "description": "Number of lines (2000).",
        "type": "number"
      },
      "files": {
        "description": "Several files, or ranges of one, instead of path.",
        "type": "array",
        "items": {
          "type": "object",
          "properties": {
            "path": {
              "type": "string"
            },
            "offset": {
              "type": "number"
            },
            "limit": {
              "type": "number"
            }
          },
          "required": [
            "path"
          ],
          "additionalProperties": false
        }
      }
    },
    "additionalProperties": false
  },
  "list_dir": {
    "type": "object",
    "properties": {
      "path": {
        "type": "string"
      },
      "depth": {
        "description": "Levels below the directory (1).",
        "type": "number"
      },
      "limit": {
        "description": "Most entries (500).",
        "type": "number"
      }
    },
    "required": [
      "path"
    ],
    "additionalProperties": false
  },
  "grep_files": {
    "type": "object",
    "properties": {
      "pattern": {
        "type": "string",
        "description": "Regular expression."
      },
      "path": {
        "type": "string"
      },
      "include": {
        "description": "Glob of file paths.",
        "type": "string"
      },
      "limit": {
        "description": "Most matches (200).",
        "type": "number"
      },
      "type": {
        "description": "Type or extension of files, such as ts, py or go.",
        "type": "string"
      },
      "context": {
        "description": "Lines to show before and after each match (0).",
        "type": "number"
      },
      "files_only": {
        "description": "Only the paths of files with a match.",
        "type": "boolean"
      }
    },
    "required": [
      "pattern"
    ],
    "additionalProperties": false
  },
  "glob": {
    "type": "object",
    "properties": {
      "pattern": {
        "type": "string",
        "description": "Such as **/*.test.ts; without a slash it judges file names."
      },
      "path": {
        "description": "Directory to search.",
        "type": "string"
      },
      "limit": {
        "description": "Most files (500).",
        "type": "number"
      }
    },
    "required": [
      "pattern"
    ],
    "additionalProperties": false
  },
  "spawn_agent": {
    "type": "object",
    "properties": {
      "message": {
        "description": "The task, complete in itself.",
        "type": "string"
      },
      "items": {
        "type": "array",
        "items": {
          "type": "object",
          "properties": {
            "type": {
              "type": "string",
              "enum": [
                "text",
                "image",
                "local_image",
                "skill",
                "mention"
              ]
            },
            "text": {
              "type": "string"
            },
            "image_url": {
              "type": "string"
            },
            "path": {
              "type": "string"
            },
            "name": {
              "type": "string"
            }
          },
          "required": [
            "type"
          ],
          "additionalProperties": false
        }
      },
      "agent_type": {
        "description": "Role of the agent.",
        "type": "string"
      },
      "fork_context": {
        "description": "Give it this conversation too.",
        "type": "boolean"
      },
      "model": {
        "type": "string"
      },
      "reasoning_effort": {
        "type": "string"
      },
      "service_tier": {
        "type": "string"
      }
    },
    "additionalProperties": false
  },
  "send_input": {
    "type": "object",
    "properties": {
      "target": {
        "type": "string",
        "description": "Id or nickname of the agent."
      },
      "message": {
        "type": "string"
      },
      "items": {
        "type": "array",
        "items": {
          "type": "object",
          "properties": {
            "type": {
              "type": "string",
              "enum": [
                "text",
                "image",
                "local_image",
                "skill",
                "mention"
              ]
            },
            "text": {
              "type": "string"
            },
            "image_url": {
              "type": "string"
            },
            "path": {
              "type": "string"
            },
            "name": {
              "type": "string"
            }
          },
          "required": [
            "type"
          ],
          "additionalProperties": false
        }
      },
      "interrupt": {
        "description": "Stop what it does now first.",
        "type": "boolean"
      }
    },
    "required": [
      "target"
    ],
    "additionalProperties": false
  },
  "wait_agent": {
    "type": "object",
    "properties": {
      "targets": {
        "type": "array",
        "items": {
          "type": "string"
        },
        "description": "Ids or nicknames; returns when one of these agents ends."
      },
      "timeout_ms": {
        "description": "10000 to 3600000 (30000).",
        "type": "number"
      }
    },
    "required": [
      "targets"
    ],
    "additionalProperties": false
  },
  "close_agent": {
    "type": "object",
    "properties": {
      "target": {
        "type": "string"
      }
    },
    "required": [
      "target"
    ],
    "additionalProperties": false
  },
  "resume_agent": {
    "type": "object",
    "properties": {
      "id": {
        "type": "string"
      }
    },
    "required": [
      "id"
    ],
    "additionalProperties": false
  }
} as const;
