// Why an image could not be made, and what to do.
export class ImageFault extends Error {
  override name = "ImageFault";
}
