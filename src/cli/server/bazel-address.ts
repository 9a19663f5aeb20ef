/** As Bazel writes addresses; the HTTP side tells whether there is TLS. */
export const bazelAddress = (grpc: string, httpUrl: string): string =>
  grpc.startsWith('unix:') ? grpc : `${httpUrl.startsWith('https:') ? 'grpcs' : 'grpc'}://${grpc}`
