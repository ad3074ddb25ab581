#!/usr/bin/env node
require("../dist/agent.cjs");
