#!/usr/bin/env node
import "../dist/bridge/main.js";
