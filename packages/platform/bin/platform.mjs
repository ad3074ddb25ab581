#!/usr/bin/env node
import "../dist/platform.mjs";
