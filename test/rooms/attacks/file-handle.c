/* Opens files by number, past every directory. */
#include "attack.h"

int main(void) {
  char handle[sizeof(struct file_handle) + 128] = {0};
  struct file_handle *file = (struct file_handle *)handle;
  int mount_id;
  file->handle_bytes = 128;
  if (name_to_handle_at(AT_FDCWD, ".", file, &mount_id, 0) < 0) refused("name_to_handle_at");
  int fd = open(".", O_RDONLY);
  TRY(open_by_handle_at(fd, file, O_RDONLY));
}
