/* A function with two kinds of exits: it leaks what it owns. */
bisai_status bsi_sound(bisai_context *context) {
  BSI_TRY(bsi_first(context)); /* then free() nothing, goto nowhere */
  return bsi_second(context, "free(it)");
}

bisai_status bsi_leaks(bisai_context *context) {
  double *work = bsi_allocate(context, 1, sizeof *work);
  BSI_TRY(bsi_first(context));
  bsi_release(context, work);
  return BISAI_OK;
}

static bisai_status jumps(bisai_context *context) {
  BSI_TRY(bsi_first(context));
  if (bsi_second(context, "")) goto exit;
exit:
  return BISAI_OK;
}

static void sound_again(bisai_context *context) { bsi_release(context, NULL); }
