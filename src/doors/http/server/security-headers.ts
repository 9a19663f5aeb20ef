/** Forbids loading, embedding and framing; a page that needs more sets its own policy. */
const NOTHING = "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

/** Default headers of every response: no sniffing, no framing, no caching. */
export const SECURITY_HEADERS: Readonly<Record<string, string>> = {
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
  'content-security-policy': NOTHING,
  'cross-origin-resource-policy': 'same-origin',
  'referrer-policy': 'no-referrer',
  'cache-control': 'no-store',
}

/** For a page with one style sheet of its own, named by its hash. */
export const pagePolicy = (styleHash: string): string => `${NOTHING}; style-src 'sha256-${styleHash}'`
