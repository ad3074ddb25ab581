#!/usr/bin/env node
require("../dist/agentcli.cjs").start();
