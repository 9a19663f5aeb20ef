import type { Command } from '../model/command.ts'

/** One that is given nothing and gives nothing back: all that it needs is in its room. */
export const plainCommand = (said: Pick<Command, 'argv' | 'env' | 'limits' | 'platform'>): Command => ({
  ...said,
  workingDirectory: '',
  image: undefined,
  network: false,
  cacheable: false,
  inputs: { root: undefined, files: [], uris: [] },
  outputs: { paths: { kind: 'any', paths: [] }, globs: [], directoryFormat: 'directories', properties: [] },
})
