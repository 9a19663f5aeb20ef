/** Nothing may be loaded, embedded or framed; a page that needs more sets a policy of its own. */
const NOTHING = "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

/** What a response says unless its route said otherwise: read it as what it is, show it nowhere, keep it nowhere. */
export const SECURITY_HEADERS: Readonly<Record<string, string>> = {
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
  'content-security-policy': NOTHING,
  'cross-origin-resource-policy': 'same-origin',
  'referrer-policy': 'no-referrer',
  'cache-control': 'no-store',
}

export function addSecurityHeaders(headers: Headers): void {
  for (const [name, value] of Object.entries(SECURITY_HEADERS)) if (!headers.has(name)) headers.set(name, value)
}

/** For a page with one style sheet of its own, named by its hash. */
export const pagePolicy = (styleHash: string): string => `${NOTHING}; style-src 'sha256-${styleHash}'`
