/** An address in Bazel's notation; the HTTP address shows whether TLS is used. */
export const bazelAddress = (grpc: string, httpUrl: string): string =>
  grpc.startsWith('unix:') ? grpc : `${httpUrl.startsWith('https:') ? 'grpcs' : 'grpc'}://${grpc}`
