# Finds SentencePiece::SentencePiece and its trainer; the Debian package has no CMake package.
find_path(SentencePiece_INCLUDE_DIR sentencepiece_processor.h)
find_library(SentencePiece_LIBRARY sentencepiece)
find_library(SentencePiece_TRAIN_LIBRARY sentencepiece_train)
include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(SentencePiece
  REQUIRED_VARS SentencePiece_LIBRARY SentencePiece_TRAIN_LIBRARY SentencePiece_INCLUDE_DIR)
# Since 0.2.1 its headers need Abseil.
set(SentencePiece_ABSEIL)
if(SentencePiece_FOUND)
  file(STRINGS ${SentencePiece_INCLUDE_DIR}/sentencepiece_processor.h SentencePiece_ABSEIL REGEX "absl/")
  if(SentencePiece_ABSEIL)
    find_package(absl REQUIRED)
    set(SentencePiece_ABSEIL absl::status absl::strings absl::cord)
  endif()
endif()
if(SentencePiece_FOUND AND NOT TARGET SentencePiece::SentencePiece)
  add_library(SentencePiece::SentencePiece INTERFACE IMPORTED)
  set_target_properties(SentencePiece::SentencePiece PROPERTIES
    INTERFACE_INCLUDE_DIRECTORIES ${SentencePiece_INCLUDE_DIR}
    INTERFACE_LINK_LIBRARIES "${SentencePiece_TRAIN_LIBRARY};${SentencePiece_LIBRARY};${SentencePiece_ABSEIL}")
endif()
