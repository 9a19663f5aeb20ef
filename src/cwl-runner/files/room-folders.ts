/** The folders of one command on this machine, whatever the command sees them as. */
export interface RoomFolders {
  readonly name: string
  readonly base: string
  readonly outdir: string
  readonly tmpdir: string
  readonly inputsDir: string
}
