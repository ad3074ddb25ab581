// The hosts that the mode default_plus_allowlist allows without a list: package registries and code hosts. All of them are here.

export const presets = {
  npm: ["registry.npmjs.org", "registry.yarnpkg.com", "nodejs.org"],
  PyPI: ["pypi.org", "files.pythonhosted.org"],
  Go: ["proxy.golang.org", "sum.golang.org", "go.dev"],
  crates: ["crates.io", "*.crates.io", "static.rust-lang.org"],
  Debian: ["deb.debian.org", "*.debian.org", "archive.ubuntu.com", "security.ubuntu.com", "ports.ubuntu.com"],
  Ruby: ["rubygems.org", "*.rubygems.org"],
  Java: ["repo.maven.apache.org", "repo1.maven.org"],
  PHP: ["packagist.org"],
  NuGet: ["api.nuget.org"],
  "code hosts": ["github.com", "*.github.com", "*.githubusercontent.com", "gitlab.com", "bitbucket.org"],
} as const;

export const presetHosts: string[] = Object.values(presets).flat();
