/** A TCP address or the path of a Unix socket. */
export type ListenAddress = { readonly host: string; readonly port: number } | { readonly path: string }
