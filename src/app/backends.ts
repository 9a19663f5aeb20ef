/** What commands run in, by the names of the settings. */
export const BACKENDS = ['auto', 'host', 'sandbox', 'unshare', 'docker'] as const
export type Backend = (typeof BACKENDS)[number]
